import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import type { Me } from '../api/queries';
import { pagesFor } from '../developers/pages';
import { useDeveloperTexts } from '../developers/texts/use';
import { useMoneyTexts } from '../money/section';
import { tabsOf } from '../money/tabs';
import { isOperator, operatorPages } from '../operators/pages';
import { useOperatorTexts } from '../operators/texts/use';
import { paymentPagesFor } from '../payments/pages';
import { sections } from '../shell/sections';
import { teamPagesFor } from '../team/pages';
import { useTeamTexts } from '../team/texts/use';
import { useTexts } from '../texts/texts';
import { usePaletteTexts } from './texts/use';

/** Something that the palette offers: where it leads to. `creates`: the page opens its form for a payment. */
export type Command = Readonly<{
  id: string;
  name: string;
  to: string;
  search?: { search: string } | { q: string };
  creates?: true;
}>;

/** Everything that this person may open or do. */
export function useCommands(me: Me): Command[] {
  const t = useTexts();
  const words = usePaletteTexts();
  const [money, developers, team] = [useMoneyTexts(), useDeveloperTexts(), useTeamTexts()];
  const operators = useOperatorTexts();
  const own = me.merchantId !== null;
  const below = (section: string, to: string, name: string): Command => ({ id: to, to, name: `${section}: ${name}` });
  return [
    ...sections.filter(({ isFor }) => isFor(me)).map(({ to, name }) => ({ id: to, to, name: t.nav[name] })),
    ...paymentPagesFor(me)
      .filter(({ to }) => to !== '/payments')
      .map(({ to, name }) => below(t.nav.payments, to, t.payments.sections[name])),
    ...tabsOf(me).map(({ to, name }) => below(t.nav.money, to, money.tabs[name])),
    ...pagesFor(me).map(({ to, name }) => below(t.nav.developers, to, developers.tabs[name])),
    ...teamPagesFor(me).map(({ to, name }) => below(t.nav.team, to, team.tabs[name])),
    ...(isOperator(me) ? operatorPages : []).map(({ to, name }) => below(operators.title, to, operators.tabs[name])),
    ...(own && mayCall(me, access.createPayment.may)
      ? [{ id: 'create', to: '/payments', name: words.newPayment, creates: true as const }]
      : []),
    ...(own && mayCall(me, access.queuePayouts.may)
      ? [{ id: 'payout', to: '/money/payouts/new', name: words.newPayout }]
      : []),
    ...(own && mayCall(me, access.createWidget.may)
      ? [{ id: 'widget', to: '/widgets/new', name: words.newWidget }]
      : []),
  ];
}
