/** Graphs of a recording out of one table of nodes: standalone/graphs.py writes it. */
import { ApiError } from "../api";
import type { GraphColumns, NodeDetail, NodeReference } from "../schema";
import type { Kept } from "./kept";

const MOST_REFERENCES = 200;

type Detail = Pick<NodeDetail, "title" | "detail" | "name" | "attributes">;
type Kind = [title: string, label: string, detail: string, name: string, whole: Detail];

/** All nodes of a recording: of each who it is, its kind, and the numbers of its arguments. */
interface Nodes {
  kinds: Kind[];
  row: number[];
  kind: number[];
  offsets: number[];
  args: number[];
}

/** What a step has of them. */
interface Graph {
  step: number;
  count: number;
  numbers: number[];
  group: number[];
  state: number[];
  roots: number[];
  nodes: Nodes;
}

const tables = new Map<string, Nodes>();

async function nodesOf(kept: Kept): Promise<Nodes> {
  const known = tables.get(kept.id);
  if (known) return known;
  type Written = [Kind[], number, number, number[], number[]];
  const block = await kept.block("graphs");
  const [kinds, rows, kind, arity, written] = block.answer("nodes") as unknown as Written;
  const offsets = [0];
  for (const count of arity) offsets.push((offsets.at(-1) ?? 0) + count);
  const args = new Array<number>(written.length);
  for (let node = 0; node < arity.length; node++) {
    for (let i = offsets[node] ?? 0; i < (offsets[node + 1] ?? 0); i++) {
      const each = written[i] ?? 0;
      args[i] = each > 0 ? node - each : -1 - each;
    }
  }
  const made = { kinds, row: block.numbers(rows), kind: block.numbers(kind), offsets, args };
  tables.set(kept.id, made);
  return made;
}

async function graphOf(kept: Kept, path: string): Promise<Graph> {
  type Written = [number, number, number, number, number, number[]];
  const found = (await kept.answer("graphs", path)) as unknown as Written;
  const [step, count, numbers, group, state, roots] = found;
  const block = await kept.block("graphs");
  return {
    step,
    count,
    numbers: block.numbers(numbers),
    group: block.numbers(group),
    state: block.numbers(state),
    roots,
    nodes: await nodesOf(kept),
  };
}

/** The place in the step of each node of the table, -1 where the step does not have it. */
function placesOf({ numbers, nodes }: Graph): Int32Array {
  const places = new Int32Array(nodes.row.length).fill(-1);
  numbers.forEach((number, i) => {
    places[number] = i;
  });
  return places;
}

export async function columnsOf(kept: Kept, path: string): Promise<GraphColumns> {
  const graph = await graphOf(kept, path);
  const { numbers, nodes } = graph;
  const palettes = [new Map(), new Map(), new Map(), new Map()] as Map<string, number>[];
  const of = new Map<number, number[]>();
  for (const number of numbers) {
    const kind = nodes.kind[number] ?? 0;
    if (of.has(kind)) continue;
    const texts = nodes.kinds[kind]?.slice(0, 4) as string[];
    of.set(
      kind,
      palettes.map((palette, i) => indexIn(palette, texts[i] ?? "", i === NAME)),
    );
  }
  const column = (which: number): number[] =>
    numbers.map((number) => of.get(nodes.kind[number] ?? 0)?.[which] ?? -1);
  const places = placesOf(graph);
  const offsets = [0];
  const args: number[] = [];
  for (const number of numbers) {
    for (let i = nodes.offsets[number] ?? 0; i < (nodes.offsets[number + 1] ?? 0); i++) {
      args.push(places[nodes.args[i] ?? 0] ?? 0);
    }
    offsets.push(args.length);
  }
  const [titles = [], labels = [], details = [], names = []] = palettes.map((palette) => [
    ...palette.keys(),
  ]);
  return {
    step: graph.step,
    count: graph.count,
    titles,
    labels,
    details,
    names,
    title: column(0),
    label: column(1),
    detail: column(2),
    name: column(NAME),
    row: numbers.map((number) => nodes.row[number] ?? 0),
    arg_offsets: offsets,
    args,
    group: graph.group,
    state: graph.state,
    roots: graph.roots,
  };
}

const NAME = 3;

function indexIn(palette: Map<string, number>, text: string, mayBeNone: boolean): number {
  if (mayBeNone && text === "") return -1;
  const known = palette.get(text);
  if (known !== undefined) return known;
  palette.set(text, palette.size);
  return palette.size - 1;
}

export async function nodeOf(kept: Kept, path: string, node: number): Promise<NodeDetail> {
  const graph = await graphOf(kept, path);
  const { numbers, nodes } = graph;
  const number = numbers[node];
  const kind = number === undefined ? undefined : nodes.kinds[nodes.kind[number] ?? 0];
  if (number === undefined || !kind) {
    throw new ApiError(404, "node_not_found", "The graph has no node of this number.");
  }
  const places = placesOf(graph);
  const argsOf = (each: number): number[] =>
    nodes.args.slice(nodes.offsets[each], nodes.offsets[each + 1]).map((arg) => places[arg] ?? 0);
  const users = [...numbers.keys()].filter((user) => argsOf(numbers[user] ?? 0).includes(node));
  const reference = (each: number): NodeReference => {
    const [title = "", , detail = ""] = nodes.kinds[nodes.kind[numbers[each] ?? 0] ?? 0] ?? [];
    return { node: each, title, detail: String(detail), group: graph.group[each] ?? -1 };
  };
  return {
    node,
    row: nodes.row[number] ?? 0,
    ...kind[4],
    state: graph.state[node] ?? 0,
    group: graph.group[node] ?? -1,
    args: argsOf(number).slice(0, MOST_REFERENCES).map(reference),
    users: users.slice(0, MOST_REFERENCES).map(reference),
    users_total: users.length,
  };
}
