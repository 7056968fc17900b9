// A relay that we did not write (@nostr-relay), with its events in memory.
// Usage: node relay.mjs [port]. Prints "listening <port>", then each event
// that it stores.
import common from '@nostr-relay/common';
import core from '@nostr-relay/core';
import validation from '@nostr-relay/validator';
import { WebSocketServer } from 'ws';

const { EventRepository, EventUtils, LogLevel } = common;

const valueOfD = (event) => event.tags.find((tag) => tag[0] === 'd')?.[1] ?? '';
const isAddressable = (event) => event.kind >= 30000 && event.kind < 40000;
const keyOf = (event) =>
  isAddressable(event) ? `${event.kind}:${event.pubkey}:${valueOfD(event)}` : event.id;
const isNewer = (a, b) =>
  a.created_at !== b.created_at ? a.created_at > b.created_at : a.id < b.id;

// EventUtils.isMatchingFilter does not look at tags.
const hasTags = (event, filter) =>
  Object.entries(filter)
    .filter(([name]) => name.startsWith('#'))
    .every(([name, values]) =>
      event.tags.some((tag) => tag[0] === name.slice(1) && values.includes(tag[1])));

class MemoryRepository extends EventRepository {
  events = new Map();

  isSearchSupported() {
    return false;
  }

  upsert(event) {
    const present = this.events.get(keyOf(event));
    if (present && !isNewer(event, present)) return { isDuplicate: true };
    this.events.set(keyOf(event), event);
    console.log(`stored ${event.id}`);
    return { isDuplicate: false };
  }

  find(filter) {
    return [...this.events.values()]
      .filter((event) => EventUtils.isMatchingFilter(event, filter) && hasTags(event, filter))
      .sort((a, b) => (isNewer(a, b) ? -1 : 1))
      .slice(0, filter.limit ?? 500);
  }

  async deleteByDeletionRequest(request) {
    for (const [key, event] of this.events)
      if (event.pubkey === request.pubkey && request.tags.some((tag) => tag[1] === event.id))
        this.events.delete(key);
    this.upsert(request);
  }

  async destroy() {}
}

// Outcomes and answers from a cache would hide what the tests look for.
const relay = new core.NostrRelay(new MemoryRepository(), {
  logLevel: LogLevel.ERROR,
  filterResultCacheTtl: 0,
  eventHandlingResultCacheTtl: 0,
});
const validator = new validation.Validator();
const server = new WebSocketServer({ host: '127.0.0.1', port: Number(process.argv[2] ?? 0) });

server.on('connection', (socket) => {
  relay.handleConnection(socket);
  socket.on('message', async (data) => {
    try {
      await relay.handleMessage(socket, await validator.validateIncomingMessage(data));
    } catch (error) {
      socket.send(JSON.stringify(['NOTICE', error.message]));
    }
  });
  socket.on('close', () => relay.handleDisconnect(socket));
  socket.on('error', () => {});
});
server.on('listening', () => console.log(`listening ${server.address().port}`));
