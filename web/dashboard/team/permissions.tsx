import { holds, permissions as all, type Holder, type Permission } from '../../../domain/access/access';
import css from '../design/design.module.css';
import { Choice } from '../design/field';
import { useTeamTexts } from './texts/use';

type Level = 'none' | 'view' | 'manage';
const areas = [...new Set(all.map((permission) => permission.split(':')[0]!))];
const named = (area: string, level: Level): Permission | undefined =>
  all.find((permission) => permission === `${area}:${level}`);

const levelOf = (area: string, chosen: readonly string[]): Level =>
  chosen.includes(`${area}:manage`) ? 'manage' : chosen.includes(`${area}:view`) ? 'view' : 'none';

/** What a member may do, an area at a time, in words. Nobody can give what they lack: what a member has beyond it stays
 *  as it is. */
export function Permissions(
  props: Readonly<{ giver: Holder; chosen: readonly Permission[]; onChange: (chosen: Permission[]) => void }>,
) {
  const { giver, chosen, onChange } = props;
  const t = useTeamTexts();
  const set = (area: string, level: Level): void => {
    const permission = named(area, level);
    onChange([...chosen.filter((one) => !one.startsWith(`${area}:`)), ...(permission ? [permission] : [])]);
  };
  return (
    <fieldset className={css.stack}>
      <legend className={css.legend}>{t.permissions.legend}</legend>
      <p className={css.hint}>{t.permissions.hint}</p>
      {areas.map((area) => {
        const words = t.areas[area]!;
        const level = levelOf(area, chosen);
        const offered = (['none', 'view', 'manage'] as const).filter((one) => {
          const permission = named(area, one);
          return one === 'none' || one === level || (permission !== undefined && holds(giver, permission));
        });
        return (
          <Choice
            key={area}
            label={words.name}
            hint={offered.length === 1 ? t.permissions.lacking : undefined}
            value={level}
            options={offered.map((one) => [one, one === 'none' ? t.permissions.none : (words[one] ?? one)] as const)}
            onChange={(next) => set(area, next)}
          />
        );
      })}
    </fieldset>
  );
}

/** What somebody may do, as a list of words. */
export function PermissionWords({ holder }: Readonly<{ holder: Holder }>) {
  const t = useTeamTexts();
  if (holder.role === 'merchant_admin') return <span>{t.members.everything}</span>;
  const held = areas.flatMap((area) => {
    const level = levelOf(area, holder.permissions);
    const words = t.areas[area]!;
    return level === 'none' ? [] : [`${words.name}: ${words[level] ?? words.view}`];
  });
  if (!held.length) return <span>{t.members.nothing}</span>;
  return (
    <ul className={css.list}>
      {held.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
