/** All that is known of the chosen box, with links to what it hangs on. */
import type { ComponentChildren, JSX } from "preact";
import type { NodeDetail, NodeReference } from "../schema";
import type { Controller } from "./controller";
import type { EntryDetail, Link } from "./request";

const STATES = ["", "new in this step", "changed in this step"];

export function Details({
  detail,
  node,
  controller,
}: {
  detail: EntryDetail;
  node: NodeDetail | null;
  controller: Controller;
}): JSX.Element {
  const [type = "", ...names] = (node?.detail ?? "").split("\n");
  return (
    <aside class="graph-details" aria-label="Details of the chosen box">
      <div class="graph-details-head">
        <h3>
          <bdi>{detail.title}</bdi>
        </h3>
        <button
          type="button"
          class="graph-plain"
          aria-label="Close the details"
          title="Close (Escape)"
          onClick={() => controller.select(-1)}
        >
          ×
        </button>
      </div>
      <div class="graph-actions">
        {detail.pin ? (
          <button
            type="button"
            onClick={() => controller.pin()}
            title="Follow it through all steps (Space)"
          >
            Pin <bdi>{cut(detail.name)}</bdi>
          </button>
        ) : null}
        <button
          type="button"
          onClick={() => controller.setMode("around")}
          title="Show only what is near (h)"
        >
          Neighborhood
        </button>
        {detail.line ? (
          <button
            type="button"
            onClick={() => controller.openLine()}
            title="Show it in the assembly (l)"
          >
            Line {detail.line.toLocaleString("en-US")}
          </button>
        ) : null}
      </div>
      <dl>
        <Fact name="kind">{detail.kind}</Fact>
        {detail.state ? <Fact name="state">{STATES[detail.state]}</Fact> : null}
        {detail.scope && detail.scope !== detail.name ? (
          <Fact name="in">{detail.scope}</Fact>
        ) : null}
        {detail.trips >= 0 ? (
          <Fact name="passes">{detail.trips.toLocaleString("en-US")}</Fact>
        ) : null}
        {detail.children ? (
          <Fact name="members">{detail.children.toLocaleString("en-US")}</Fact>
        ) : null}
        <Fact name="nodes">
          {detail.nodes ? detail.nodes.toLocaleString("en-US") : "shared with an earlier place"}
          {detail.changed ? `, ${detail.changed.toLocaleString("en-US")} new or changed` : ""}
        </Fact>
      </dl>
      <Links title="Fed by" links={detail.fedBy} controller={controller} />
      <Links title="Feeds" links={detail.feeds} controller={controller} />
      <Links title="Calls" links={detail.calls} controller={controller} />
      <Links title="Called by" links={detail.calledBy} controller={controller} />
      {node ? (
        <section>
          <h4>
            Node <bdi>{node.title.toLowerCase()}</bdi>
          </h4>
          <dl>
            <Fact name="type">{type}</Fact>
            {names.length && !("name" in node.attributes) ? (
              <Fact name="name">{names.join(" ")}</Fact>
            ) : null}
            {Object.entries(node.attributes).map(([name, value]) => (
              <Fact key={name} name={name}>
                {shown(value)}
              </Fact>
            ))}
          </dl>
          <References
            title="Arguments"
            nodes={node.args}
            total={node.args.length}
            controller={controller}
          />
          <References
            title="Users"
            nodes={node.users}
            total={node.users_total}
            controller={controller}
          />
        </section>
      ) : null}
    </aside>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>
        <bdi>{name}</bdi>
      </dt>
      <dd>
        <bdi>{children}</bdi>
      </dd>
    </div>
  );
}

function Links({
  title,
  links,
  controller,
}: {
  title: string;
  links: Link[];
  controller: Controller;
}): JSX.Element | null {
  if (!links.length) return null;
  return (
    <section>
      <h4>{title}</h4>
      <ul>
        {links.map((link) => (
          <li key={`${link.entry} ${link.label}`}>
            <button
              type="button"
              class="graph-link"
              onClick={() => void controller.goTo(link.entry)}
            >
              <bdi>{cut(link.title, 120)}</bdi>
            </button>
            {link.label ? (
              <span class="graph-note">
                by <bdi>{cut(link.label)}</bdi>
              </span>
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

function References({
  title,
  nodes,
  total,
  controller,
}: {
  title: string;
  nodes: NodeReference[];
  total: number;
  controller: Controller;
}): JSX.Element | null {
  if (!nodes.length) return null;
  const more = total - nodes.length;
  return (
    <section>
      <h4>
        {title} ({total.toLocaleString("en-US")})
      </h4>
      <ul>
        {nodes.map((each, i) => (
          // An argument may come twice.
          <li key={i}>
            <button
              type="button"
              class="graph-link"
              disabled={each.group < 0}
              onClick={() => void controller.goTo(each.group, each.node)}
            >
              <bdi>{each.title.toLowerCase()}</bdi>
            </button>
            <span class="graph-note">
              <bdi>{each.detail.replaceAll("\n", " ")}</bdi>
            </span>
          </li>
        ))}
      </ul>
      {more > 0 ? <p class="graph-note">{more.toLocaleString("en-US")} more</p> : null}
    </section>
  );
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function cut(text: string, longest = 40): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
