/** What stands in the text room for data that nobody reads as text. */
import { type Content, payloadUrl } from "../api";
import { bytes } from "../format";
import { Name } from "../names";
import type { PayloadSummary, StepSummary } from "../schema";

/** More than this of JSON is no text that anybody reads: it is offered for download. */
const MAX_JSON_CHARS = 1_000_000;

export function isShownAsText(content: Content): boolean {
  if (content.text === null) return false;
  const isJson = content.mediaType.startsWith("application/json");
  return !isJson || content.text.length <= MAX_JSON_CHARS;
}

interface Props {
  id: string;
  step: StepSummary;
  payload: PayloadSummary;
  content: Content;
}

export function DataNote({ id, step, payload, content }: Props) {
  const what = content.text === null ? "Binary data" : "A long JSON text";
  return (
    <p class="hint">
      <Name text={`${what} of type ${payload.media_type}, ${bytes(payload.size)}: `} />
      <a href={payloadUrl(id, step.index, payload)} download={fileName(step, payload)}>
        download it
      </a>
    </p>
  );
}

export function fileName(step: StepSummary, payload: PayloadSummary): string {
  return `step-${step.index}-${payload.kind}`;
}
