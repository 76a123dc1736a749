/** Inputs and figures of two recordings, side by side. */
import { bytes, count, duration, NONE } from "../format";
import { Name } from "../names";
import type { Comparison } from "../wire";

type Value = string | number | null;

export function ComparisonTable({ rows }: { rows: Comparison["rows"] }) {
  return (
    <section>
      <h2>Figures</h2>
      <table class="compare-figures">
        <caption>Inputs and figures of both recordings</caption>
        <thead>
          <tr>
            <th scope="col">Figure</th>
            <th scope="col" class="figure">
              left
            </th>
            <th scope="col" class="figure">
              right
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const isSame = row.left === row.right;
            return (
              <tr key={row.key} class={isSame ? "quiet" : undefined}>
                <th scope="row">
                  <Name text={row.label} />
                  {!isSame && (
                    <span class="differs" title="differs">
                      {" "}
                      ≠
                    </span>
                  )}
                </th>
                <td class="figure">
                  <Name text={show(row.left, row.unit)} />
                </td>
                <td class="figure">
                  <Name text={show(row.right, row.unit)} />
                  <span class="change"> {ratio(row.left, row.right)}</span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

function show(value: Value, unit: string): string {
  if (value === null) return NONE;
  if (typeof value === "string") return value;
  if (unit === "s") return duration(value);
  return unit === "By" ? bytes(value) : count(value);
}

/** How much more or less the right one is. */
function ratio(left: Value, right: Value): string {
  if (typeof left !== "number" || typeof right !== "number" || left === right || left === 0) {
    return "";
  }
  const percent = (right / left - 1) * 100;
  const shown = Math.abs(percent) < 10 ? percent.toFixed(1) : count(percent);
  return `${percent > 0 ? "+" : ""}${shown} %`.replace("-", "−");
}
