import { serve } from './shop';

Deno.serve(serve);
