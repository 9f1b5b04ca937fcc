import { serve } from './shop';

export default { fetch: (request) => serve(request) } satisfies ExportedHandler;
