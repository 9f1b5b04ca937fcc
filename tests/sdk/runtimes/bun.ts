import { serve } from './shop';

Bun.serve({ fetch: serve });
