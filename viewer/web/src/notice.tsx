/** Tells that the server does not answer, or answers wrongly, while the page tries again. */
import type { ApiError } from "./api";

export function Notice({ error }: { error: ApiError | null }) {
  if (error === null) return null;
  return (
    <p class="notice" role="alert">
      {error.message} Trying again…
    </p>
  );
}
