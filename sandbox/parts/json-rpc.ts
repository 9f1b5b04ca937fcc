/** One JSON-RPC call to a local node; rejects with the node's own message. */
export async function call<T>(
  url: string,
  method: string,
  params: readonly unknown[] = [],
  login?: string,
  withinMs = 30_000,
): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(login ? { authorization: `Basic ${Buffer.from(login).toString('base64')}` } : {}),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(withinMs),
  });
  const text = await response.text();
  if (!text.startsWith('{')) throw new Error(`${method}: HTTP ${response.status} ${text.slice(0, 100)}`);
  const answer = JSON.parse(text) as { result: T; error?: { message: string } | null };
  if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}
