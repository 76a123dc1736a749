/** What is shown where nothing was recorded yet: how to make a recording. */
import { CopyButton } from "../copy";
import { Pre } from "../names";

const EXAMPLE = `import scaly, scaly_viz

scaly_viz.visualize(f)                # f: a function of scaly
scaly.codegen.aot.render_c_source(f)  # or call f: every compile is recorded
`;

export function EmptyNote() {
  return (
    <section class="empty">
      <h2>No recordings yet</h2>
      <p>Mark a function and compile it; it will appear here by itself.</p>
      <Pre label="Example">{EXAMPLE}</Pre>
      <p class="row">
        <CopyButton text={() => EXAMPLE} />
        <span class="quiet">
          <span class="live-dot" aria-hidden="true" /> listening
        </span>
      </p>
    </section>
  );
}
