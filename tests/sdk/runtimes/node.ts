import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { webhooks } from '@crypto-payment-service/sdk';
import { serve } from './shop';

createServer((request, response) => {
  void buffer(request)
    .then((body) => webhooks.unwrap(body, request.headers, 'whsec_x'))
    .then(({ id }) => response.end(id));
}).listen(3000);
void serve(new Request('http://localhost:3000/'));
