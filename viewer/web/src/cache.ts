/** What was fetched stays at hand, up to a size; what two ask for at once is fetched once. */

interface Entry<T> {
  value: T | undefined;
  error: Error | null;
  done: Promise<void>;
  size: number;
}

const MAX_SIZE = 64_000_000;

export class Cache {
  private readonly entries = new Map<string, Entry<unknown>>();
  private size = 0;

  constructor(private readonly maxSize = MAX_SIZE) {}

  /** What is known of `key` now: undefined while it is on its way or not asked for. */
  peek<T>(key: string): { value?: T; error?: Error } | undefined {
    const entry = this.entries.get(key) as Entry<T> | undefined;
    if (!entry) return undefined;
    if (entry.error) return { error: entry.error };
    if (entry.value === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return { value: entry.value };
  }

  /** Fetches `key` by `load`, unless it is there or on its way; settles when it is known. */
  load<T>(key: string, load: () => Promise<T>, sizeOf: (value: T) => number): Promise<void> {
    const known = this.entries.get(key);
    if (known && !known.error) return known.done;
    const entry: Entry<T> = { value: undefined, error: null, done: Promise.resolve(), size: 0 };
    entry.done = load().then(
      (value) => {
        entry.value = value;
        entry.size = sizeOf(value);
        this.size += entry.size;
        this.shrink(key);
      },
      (error: unknown) => {
        entry.error = error instanceof Error ? error : new Error(String(error));
      },
    );
    this.entries.set(key, entry as Entry<unknown>);
    return entry.done;
  }

  forget(key: string): void {
    this.size -= this.entries.get(key)?.size ?? 0;
    this.entries.delete(key);
  }

  private shrink(newest: string): void {
    for (const [key, entry] of this.entries) {
      if (this.size <= this.maxSize) return;
      if (key !== newest && entry.value !== undefined) this.forget(key);
    }
  }
}
