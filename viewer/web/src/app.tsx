/** The page as a whole: its bar, the place that the address names, and keys that work everywhere. */
import { useEffect, useRef } from "preact/hooks";
import { ComparePage } from "./compare/page";
import { HAS } from "./features";
import { Home } from "./home/home";
import { KeyList, useKeys } from "./keys";
import { go, useRoute } from "./navigation";
import { RecordingPage } from "./recording/room";
import { format, home, type Route, recording, search } from "./route";
import { SearchPage } from "./search/all";

export function App() {
  const route = useRoute();
  useEffect(() => {
    if (route.page !== "recording") document.title = "scaly-viz";
  }, [route.page]);
  return (
    <>
      <header class="bar">
        <a class="brand" href={format(home())}>
          scaly-viz
        </a>
        <Crumbs route={route} />
        <span class="spacer" />
        {HAS.search && <SearchBox route={route} />}
        <KeyList />
      </header>
      <main id="main" tabIndex={-1}>
        <Place route={route} />
      </main>
    </>
  );
}

function Place({ route }: { route: Route }) {
  switch (route.page) {
    case "home":
      return <Home params={route.params} />;
    case "search":
      return <SearchPage params={route.params} />;
    case "compare":
      return (
        <ComparePage key={`${route.params.left} ${route.params.right}`} params={route.params} />
      );
    case "recording":
      return <RecordingPage key={route.id} route={route} />;
    default:
      return (
        <section class="page empty">
          <h1 tabIndex={-1}>There is nothing at this address.</h1>
          <p>
            <a href={format(home())}>All recordings</a>
          </p>
        </section>
      );
  }
}

function Crumbs({ route }: { route: Route }) {
  if (route.page === "home" || route.page === "nowhere") return null;
  return (
    <nav aria-label="Where you are" class="crumbs">
      <a href={format(home())}>Recordings</a>
      {route.page === "compare" && <span aria-current="page">Comparison</span>}
      {route.page === "search" && <span aria-current="page">Search</span>}
    </nav>
  );
}

/** Searches the recording that is open, else all of them. */
function SearchBox({ route }: { route: Route }) {
  const input = useRef<HTMLInputElement>(null);
  const inside = route.page === "recording" ? route : null;
  const q = route.page === "recording" || route.page === "search" ? route.params.q : "";
  useKeys([
    {
      keys: ["/"],
      what: inside ? "Search this recording" : "Filter or search",
      run: () => {
        const filter = document.querySelector<HTMLInputElement>("[data-search]");
        (route.page === "home" ? (filter ?? input.current) : input.current)?.focus();
      },
    },
  ]);
  const submit = (text: string): void => {
    if (text.trim() === "") return;
    if (inside) {
      go(recording(inside.id, inside.step, { ...inside.params, room: "search", q: text }));
    } else {
      go(search({ ...(route.page === "search" ? route.params : {}), q: text }));
    }
  };
  return (
    <input
      key={q}
      ref={input}
      type="search"
      class="search-box"
      defaultValue={q}
      placeholder={inside ? "Search all steps  /" : "Search all recordings"}
      aria-label={inside ? "Search all steps of this recording" : "Search all recordings"}
      spellcheck={false}
      onKeyDown={(event) => {
        if (event.key === "Enter") submit(event.currentTarget.value);
        if (event.key === "Escape") event.currentTarget.blur();
      }}
    />
  );
}
