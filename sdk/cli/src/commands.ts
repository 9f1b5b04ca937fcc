import type { Command } from 'commander';
import { ApiError } from '@crypto-payment-service/sdk';
import { apiAddress, seq, wholeNumber } from './arguments.js';
import { completion, shells } from './completion.js';
import { forward, forwardUrl } from './forward.js';
import { listen, type ListenOptions } from './listen.js';
import { untilInterrupted } from './interrupt.js';
import { readKey } from './login.js';
import { addLogs } from './logs.js';
import type { Output } from './output.js';
import { pay, type HowToPay } from './pay.js';
import { addPayments } from './payments.js';
import { placeOf, places, show } from './places.js';
import { Refusal } from './refusal.js';
import {
  access,
  changeSettings,
  clientOf,
  listenSecret,
  readSandbox,
  sandboxAccess,
  sandboxAround,
} from './settings.js';
import { eventOf, lineOf, rawPayload } from './stream.js';
import { sceneOf, scenes, testOnly, trigger } from './trigger.js';

/** What can be called, and with which options. */

export function addCommands(program: Command, output: Output): void {
  addLogin(program, output);
  addListen(program, output);
  addTrigger(program, output);
  addPayments(program, output);
  addLogs(program, output);
  addEvents(program, output);
  addOpen(program, output);
  program
    .command('completion')
    .description(`print the completion of a shell: ${shells.join(', ')}`)
    .argument('<shell>')
    .action((shell: string) => output.result({ script: completion(program, shell) }, completion(program, shell)));
}

type LoginOptions = Readonly<{ sandbox?: string | true; apiUrl?: string; key?: string }>;

function addLogin(program: Command, output: Output): void {
  program
    .command('login')
    .description('remember an instance and its secret key, or a local sandbox')
    .option('--sandbox [path]', 'sandbox.json of a sandbox; without a path that of the checkout around here')
    .option('--api-url <url>', 'where the API is: https://payments.example.com', apiAddress)
    .option('--key <key>', 'a secret key; - reads it from standard input; left out, it is asked for')
    .action(async ({ sandbox, apiUrl, key }: LoginOptions) => {
      if (sandbox !== undefined) {
        const place = sandbox === true ? sandboxAround(process.cwd()) : sandbox;
        if (!place) throw new Refusal('No sandbox around here: start one with npm start, or say where', 'NO_SANDBOX');
        const found = readSandbox(place);
        await check(found.apiUrl, found.secretKey);
        const file = changeSettings({ sandbox: place, apiUrl: undefined, apiKey: undefined });
        return output.result(
          { apiUrl: found.apiUrl, sandbox: place, file },
          `Logged in to the sandbox at ${found.apiUrl}`,
        );
      }
      if (!apiUrl) throw new Refusal('Say which instance: --sandbox, or --api-url https://payments.example.com');
      const apiKey = await readKey(key);
      await check(apiUrl, apiKey);
      const file = changeSettings({ apiUrl, apiKey, sandbox: undefined });
      return output.result({ apiUrl, file }, `Logged in to ${apiUrl}; the key is in ${file}`);
    });
  program
    .command('logout')
    .description('forget the key')
    .action(() => {
      const file = changeSettings({ apiUrl: undefined, apiKey: undefined, sandbox: undefined });
      output.result({ file }, 'Logged out');
    });
}

/** Throws where the key is none; one with other scopes is fine. */
async function check(apiUrl: string, apiKey: string): Promise<void> {
  try {
    await clientOf(apiUrl, apiKey).payments.count();
  } catch (error) {
    if (!(error instanceof ApiError && error.is('INSUFFICIENT_SCOPE'))) throw error;
  }
}

function addListen(program: Command, output: Output): void {
  program
    .command('listen')
    .description('show events as they come, and forward them to a server on this machine')
    .option(
      '--forward-to <url>',
      'where each is posted, signed with a secret that is printed: http://localhost:8080/hook',
    )
    .option('--events <types>', 'comma-separated types or areas: payment.*,refund.created')
    .option('--after <seq>', 'begin behind this event, in place of now', seq)
    .option(
      '--timeout <seconds>',
      'how long an answer may take; unless given 20 of the API and 15 of your server',
      wholeNumber,
    )
    .action((options: ListenOptions) => listen(access(), options, output, untilInterrupted()));
}

type TriggerOptions = Readonly<{ currency: string; timeout: number; list?: true }>;

function addTrigger(program: Command, output: Output): void {
  program
    .command('trigger')
    .description('make an event happen in the sandbox, with real coins of its chains')
    .argument('[event]', 'such as payment.settled; --list shows all')
    .option('--list', 'show every event, and which need a test instance')
    .option('--currency <ticker>', 'what is paid in', 'ETH')
    .option('--timeout <seconds>', 'how long to wait for the event', wholeNumber, 180)
    .action(async (type: string | undefined, { currency, timeout, list }: TriggerOptions) => {
      if (list) return listEvents(output);
      if (!type) throw new Refusal('Which event? trigger --list shows all');
      const how = { currency: currency.toUpperCase(), timeoutMs: timeout * 1000 };
      const scene = sceneOf(type);
      const event = await trigger(sandboxAccess('trigger'), type, scene, how);
      output.result(JSON.parse(event.raw), lineOf(event));
    });
  program
    .command('pay')
    .description('pay a payment with coins of the sandbox')
    .argument('<payment>', 'payment id, of any merchant of the sandbox, invoice id or invoice URL')
    .option('--amount <amount>', 'less or more than what is missing')
    .option('--asset <ticker>', 'choose the currency first')
    .option('--with <ticker>', 'pay in this coin, whatever the payment asks for; with --amount')
    .option('--confirm <blocks>', 'blocks to mine; all that are needed unless given')
    .action(async (payment: string, how: HowToPay) => {
      const done = await pay(sandboxAccess('pay').sandbox, payment, how);
      const sent = `Sent ${done.amount} ${done.currency} to ${done.depositAddress}: ${done.txId}`;
      output.result(done, `${sent}\nThe invoice is ${done.status}`);
    });
}

function listEvents(output: Output): void {
  const types = Object.keys(scenes);
  const lines = types.map((type) => `${type}${testOnly.has(type) ? ' (in a test instance alone)' : ''}`);
  output.result({ types, testOnly: [...testOnly] }, lines.join('\n'));
}

function addEvents(program: Command, output: Output): void {
  const events = program.command('events').description('list events, or send one again');
  events
    .command('list')
    .description('list events, oldest first')
    .option('--events <types>', 'comma-separated types or areas: payment.*')
    .option('--after <seq>', 'behind this event', seq)
    .option('--limit <number>', 'how many', wholeNumber, 20)
    .action(async ({ events: types, after, limit }: { events?: string; after?: string; limit: number }) => {
      const { items } = await access().client.events.list({ types, after, limit });
      const rows = items.map(({ seq, type, id, timestamp }) => [String(seq), type, id, timestamp]);
      output.result(items, output.table([['seq', 'type', 'id', 'time'], ...rows]));
    });
  events
    .command('resend')
    .description('send an event again: to its webhook endpoints, or to a server on this machine')
    .argument('<event id>')
    .option('--forward-to <url>', 'post it there, in place of the endpoints')
    .action(async (eventId: string, { forwardTo }: { forwardTo?: string }) => {
      if (forwardTo !== undefined) return resendHere(eventId, forwardUrl(forwardTo), output);
      const { client } = access();
      const { items } = await client.webhookEndpoints.listDeliveries({ eventId });
      if (items.length === 0)
        throw new Refusal(
          `Event ${eventId} was sent to no endpoint: --forward-to posts it to a server here`,
          'NO_DELIVERY',
        );
      for (const { id, url } of items) {
        const again = await client.webhookEndpoints.redeliver(id);
        output.result(again, `${id}  ${again.status}  ${url}`);
      }
    });
}

async function resendHere(eventId: string, url: string, output: Output): Promise<void> {
  const secret = listenSecret();
  const event = eventOf(await rawPayload(access(), (client) => client.events.get(eventId)));
  const { status, ms, error } = await forward(url, secret, event);
  const answer = status === null ? `no answer: ${error}` : String(status);
  output.result({ eventId, url, status, ms, error }, `${event.type}  ${eventId}  → ${answer} [${ms} ms]`);
  if (status === null || status >= 300) process.exitCode = 1;
}

function addOpen(program: Command, output: Output): void {
  program
    .command('open')
    .description('show a page in the browser')
    .argument('[place]', places.join(', '), 'dashboard')
    .argument('[payment id]', 'of payment, checkout and temporal')
    .option('--print', 'print the address alone')
    .action(async (place: string, paymentId: string | undefined, { print }: { print?: boolean }) => {
      const url = await placeOf(access(), place, paymentId);
      output.result({ url }, url);
      if (!print && !output.isJson) show(url);
    });
}
