import { describe, expect, it } from "vitest";
import type { WorkspaceBuffer, WorkspaceProcedure } from "../schema";
import { firstProcedure, leftOut, MOST_ROWS, planOf, reuseOf, sized, ticks } from "./plan";

function buffer(name: string, changes: Partial<WorkspaceBuffer> = {}): WorkspaceBuffer {
  return {
    name,
    scope: "f",
    place: "workspace",
    offset: 0,
    bytes: 800,
    type: "float64 100",
    first: 0,
    last: 1,
    line: 3,
    shares: [],
    tenants: [],
    alias_of: null,
    alias_offset: 0,
    ...changes,
  };
}

function procedure(changes: Partial<WorkspaceProcedure> = {}): WorkspaceProcedure {
  return {
    name: "f",
    line: 2,
    statements: 4,
    lines: [4, 5, 6, 7],
    live: [800, 800, 400, 400],
    window_bytes: 1_000,
    own_bytes: 800,
    bases: [0],
    private_bytes: 0,
    peak_bytes: 800,
    peak_statement: 0,
    waste_bytes: 200,
    buffers: [],
    calls: [],
    ...changes,
  };
}

const SHARED = buffer("s0", {
  first: 0,
  last: 3,
  tenants: [
    { name: "t0", bytes: 800, first: 0, last: 1 },
    { name: "t2", bytes: 400, first: 2, last: 3 },
  ],
});

describe("the plan of a packed procedure", () => {
  it("has a slot for its whole time, and in it each tenant for its life", () => {
    const { sections } = planOf(procedure({ buffers: [SHARED] }));
    expect(sections).toHaveLength(1);
    expect(sections[0]?.extent).toBe(1_000);
    expect(
      sections[0]?.bars.map((bar) => [
        bar.kind,
        bar.label,
        bar.first,
        bar.last,
        bar.top,
        bar.bottom,
      ]),
    ).toEqual([
      ["slot", "s0", 0, 3, 0, 800],
      ["tenant", "t0", 0, 1, 0, 800],
      ["tenant", "t2", 2, 3, 0, 400],
    ]);
  });

  it("draws aliases in their owners, and windows of callees behind them", () => {
    const alias = buffer("t3", {
      alias_of: "s0",
      alias_offset: 40,
      offset: 40,
      bytes: 80,
      first: 3,
      last: 3,
    });
    const calls = [{ callee: "g", statement: 3, line: 7, offset: 800, bytes: 200 }];
    const bars = planOf(procedure({ buffers: [SHARED, alias], calls })).sections[0]?.bars ?? [];
    expect(
      bars.slice(-2).map((bar) => [bar.kind, bar.label, bar.first, bar.top, bar.bottom]),
    ).toEqual([
      ["alias", "t3", 3, 40, 120],
      ["call", "g", 3, 800, 1_000],
    ]);
  });

  it("keeps private buffers apart, in rows", () => {
    const local = buffer("s1", { place: "private", offset: null, first: 2, last: 2 });
    const { sections } = planOf(procedure({ buffers: [SHARED, local] }));
    expect(sections.map((section) => [section.kind, section.extent])).toEqual([
      ["workspace", 1_000],
      ["private", 1],
    ]);
  });

  it("tells what reuse spares", () => {
    expect(reuseOf(procedure({ buffers: [SHARED] }))).toEqual({ tenants: 1_200, slots: 800 });
  });
});

describe("the plan of what is not packed", () => {
  it("has no addresses: a row for each buffer, the first used first", () => {
    const late = buffer("t1", { place: "unpacked", offset: null, first: 2, last: 3 });
    const early = buffer("t0", { place: "unpacked", offset: null, first: 0, last: 2 });
    const never = buffer("t9", { place: "unpacked", offset: null, first: -1, last: -1 });
    const { sections } = planOf(procedure({ window_bytes: null, buffers: [late, early, never] }));
    expect(sections.map((section) => section.kind)).toEqual(["unpacked"]);
    expect(sections[0]?.bars.map((bar) => [bar.label, bar.top])).toEqual([
      ["t0", 0],
      ["t1", 1],
    ]);
  });

  it("leaves out the smallest where there are too many, and says so", () => {
    const buffers = Array.from({ length: MOST_ROWS + 5 }, (_, i) =>
      buffer(`t${i}`, { place: "unpacked", offset: null, bytes: 8 * (i + 1) }),
    );
    const shown = procedure({ buffers });
    expect(leftOut(shown, "unpacked")).toBe(5);
    expect(planOf(shown).sections[0]?.bars[0]?.label).toBe("t5");
  });
});

it("the map begins with the entry that needs most", () => {
  const small = procedure({ name: "g", window_bytes: 8 });
  const big = procedure({ name: "f", window_bytes: 80 });
  const other = procedure({ name: "h", window_bytes: 800 });
  expect(firstProcedure([small, big, other], ["f", "g"])?.name).toBe("f");
  expect(firstProcedure([small, big, other], [])?.name).toBe("h");
  expect(firstProcedure([], ["f"])).toBeNull();
});

it("sizes have three digits and a unit", () => {
  expect([0, 999, 24_192, 8_388_608].map(sized)).toEqual(["0 B", "999 B", "24.2 kB", "8.39 MB"]);
});

it("ticks are round and whole", () => {
  expect(ticks(0, 24_192, 5)).toEqual([0, 5_000, 10_000, 15_000, 20_000]);
  expect(ticks(0, 3, 10)).toEqual([0, 1, 2, 3]);
  expect(ticks(5, 5, 3)).toEqual([]);
});
