/** A small chart of a row of figures: how they went, not what they are. */

const WIDTH = 96;
const HEIGHT = 20;

export function Spark({ values, label }: { values: (number | null)[]; label: string }) {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return null;
  const top = Math.max(...known) || 1;
  const bottom = Math.min(...known, top);
  const low = bottom > top * 0.8 ? bottom - (top - bottom || top) * 0.25 : 0;
  const at = (value: number, i: number): string => {
    const x = 3 + (i * (WIDTH - 6)) / (values.length - 1);
    const y = HEIGHT - 3 - ((value - low) / (top - low || 1)) * (HEIGHT - 6);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  };
  const points = values.flatMap((value, i) => (value === null ? [] : [at(value, i)]));
  const [lastX, lastY] = (points.at(-1) ?? "0,0").split(",");
  return (
    <svg class="spark" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <polyline points={points.join(" ")} />
      <circle cx={lastX} cy={lastY} r="2" />
    </svg>
  );
}
