import type { Command } from 'commander';
import { places } from './places.js';
import { Refusal } from './refusal.js';
import { scenes } from './trigger.js';

/** Completion for shells, from the commands themselves. */

export const shells = ['bash', 'zsh', 'fish'] as const;

type WithOptions = Command & Readonly<{ options: ReadonlyArray<Readonly<{ long?: string | null }>> }>;
type Words = ReadonlyMap<string, readonly string[]>;

/** What may follow each command, by its words: '' is the program itself. */
function wordsOf(program: Command): Words {
  const words = new Map<string, string[]>();
  const visit = (command: Command, path: string): void => {
    const options = (command as WithOptions).options.flatMap(({ long }) => (long ? [long] : []));
    words.set(path, [...command.commands.map((one) => one.name()), ...options]);
    for (const one of command.commands) visit(one, `${path} ${one.name()}`.trim());
  };
  visit(program, '');
  words.get('trigger')!.unshift(...Object.keys(scenes));
  words.get('open')!.unshift(...places);
  words.get('completion')!.unshift(...shells);
  return words;
}

const bash = (name: string, words: Words): string => `_${name.replaceAll('-', '_')}() {
  local path="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
${[...words.keys()]
  .filter((path) => path !== '')
  .map((path) => `      "${path.includes(' ') ? path : ` ${path}`}") path="${path}" ;;`)
  .join('\n')}
    esac
  done
  local list=""
  case "$path" in
${[...words].map(([path, list]) => `    "${path}") list="${list.join(' ')}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$list" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _${name.replaceAll('-', '_')} ${name}`;

const fish = (name: string, words: Words): string =>
  [...words]
    .map(([path, list]) => {
      const parts = path.split(' ').filter(Boolean);
      const seen = parts.map((part) => `__fish_seen_subcommand_from ${part}`).join('; and ');
      return `complete -c ${name} -f -n '${seen || '__fish_use_subcommand'}' -a '${list.join(' ')}'`;
    })
    .join('\n');

/** The script that a shell reads. Throws Refusal. */
export function completion(program: Command, shell: string): string {
  const name = program.name();
  const words = wordsOf(program);
  if (shell === 'bash') return bash(name, words);
  if (shell === 'zsh') return `autoload -U +X bashcompinit && bashcompinit\n${bash(name, words)}`;
  if (shell === 'fish') return fish(name, words);
  throw new Refusal(`'${shell}' is none of ${shells.join(', ')}`);
}
