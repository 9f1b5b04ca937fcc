import { createRootRoute, createRoute, redirect } from '@tanstack/react-router';
import { meQuery, queryClient } from './api/queries';
import { FailedAlone, NotFound, Shell } from './shell/shell';

/** What all pages hang on: the root, and below it what is for who is signed in. */

export const root = createRootRoute({ notFoundComponent: NotFound });

export const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: Shell,
  errorComponent: FailedAlone,
  beforeLoad: async ({ location }) => {
    const me = await queryClient.ensureQueryData(meQuery);
    if (!me) throw redirect({ to: '/sign-in', search: location.pathname === '/' ? {} : { next: location.href } });
    return { me };
  },
});
