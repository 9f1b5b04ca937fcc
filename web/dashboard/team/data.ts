import { client, payload } from '../api/client';
import { queryClient } from '../api/queries';

/** What the pages for the team read. */

export const membersPerPage = 25;
export const readMembers = (page: number) =>
  payload(client.GET('/api/v1/team-members', { params: { query: { page, limit: membersPerPage } } }));
export type Member = Awaited<ReturnType<typeof readMembers>>['items'][number];

/** Everything that shows the team is read anew. */
export const renewTeam = async (): Promise<void> => {
  await Promise.all(
    ['members', 'invitations', 'audit-log'].map((name) => queryClient.invalidateQueries({ queryKey: [name] })),
  );
};
