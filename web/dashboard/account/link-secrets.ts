import { useEffect, useState } from 'react';

/** What a link proves. It is in the fragment, which no server sees, and is taken out of the address once it is read. A
 *  link that is pasted into a tab which shows its page changes the fragment alone: the page stays, and reads again.
 *  `names`: the same array at each call. */
export function useLinkSecrets<Name extends string>(names: readonly Name[]): Readonly<Record<Name, string>> {
  const [secrets, setSecrets] = useState(() => secretsIn(window.location.hash, names));
  useEffect(() => {
    const read = (): void => {
      const { hash, pathname, search } = window.location;
      const given = secretsIn(hash, names);
      if (!names.some((name) => given[name])) return; // an anchor of the page
      setSecrets(given);
      window.history.replaceState(window.history.state, '', pathname + search);
    };
    read();
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }, [names]);
  return secrets;
}

function secretsIn<Name extends string>(hash: string, names: readonly Name[]): Record<Name, string> {
  const given = new URLSearchParams(hash.slice(1));
  return Object.fromEntries(names.map((name) => [name, given.get(name) ?? ''])) as Record<Name, string>;
}
