/** Inputs and figures of two recordings, side by side. */
import { bytes, count, duration, NONE, time } from "../format";
import { Name } from "../names";
import type { Comparison } from "../schema";

type Value = string | number | null;

/** Longer words stand below each other. */
const MAX_BESIDE = 14;

export function ComparisonTable({ rows }: { rows: Comparison["rows"] }) {
  const known = rows.filter((row) => row.left !== null || row.right !== null);
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
          {known.map((row) => (
            <Row key={row.key} row={row} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ row }: { row: Comparison["rows"][number] }) {
  const [left, right] = [shown(row.left, row), shown(row.right, row)];
  const isLong = left.length > MAX_BESIDE || right.length > MAX_BESIDE;
  const label = (
    <>
      <Name text={row.label} />
      {!row.same && (
        <span class="differs" title="differs">
          {" "}
          ≠
        </span>
      )}
    </>
  );
  if (isLong) {
    return (
      <>
        <tr class={row.same ? "above quiet" : "above"}>
          <th scope="row" colSpan={3}>
            {label}
          </th>
        </tr>
        <tr class={row.same ? "quiet" : undefined}>
          <td colSpan={3} class="stacked">
            <Name text={left} />
            {!row.same && <Name text={right} />}
          </td>
        </tr>
      </>
    );
  }
  return (
    <tr class={row.same ? "quiet" : undefined}>
      <th scope="row">{label}</th>
      <td class="figure">
        <Name text={left} />
      </td>
      <td class="figure">
        <Name text={right} />
        {row.key !== "started_at" && <span class="change"> {ratio(row.left, row.right)}</span>}
      </td>
    </tr>
  );
}

function shown(value: Value, { key, unit }: { key: string; unit: string }): string {
  if (value === null) return NONE;
  if (key === "started_at" && typeof value === "number") return time(value)?.shown ?? NONE;
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
