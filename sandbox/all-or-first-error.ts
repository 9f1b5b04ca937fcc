/** Waits for all; rejects with the first that failed when none is under way any more. */
export async function allOrFirstError<T extends readonly unknown[]>(
  all: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T>;
export async function allOrFirstError(all: ReadonlyArray<Promise<unknown>>): Promise<unknown[]> {
  const settled = await Promise.allSettled(all);
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}
