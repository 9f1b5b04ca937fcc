/** Words of the command palette. */
export const en = {
  title: 'Go to or do',
  label: 'Page, action, or what to search payments for',
  list: 'What fits',
  newPayment: 'Create a payment',
  newPayout: 'New mass payout',
  newWidget: 'New widget',
  search: (text: string) => `Search payments for “${text}”`,
  none: 'Nothing fits.',
};
