// A relay of ours that misbehaves in one way, and otherwise takes every event
// without a look. Usage: node scripted-relay.mjs <mode>. Prints
// "listening <port>", then "connected" and "EVENT <id>" for what comes.
import { WebSocketServer } from 'ws';

const [mode] = process.argv.slice(2);
const stored = new Map();
const met = new Map();
let connections = 0;

const say = (socket, ...message) => socket.send(JSON.stringify(message));

const accept = (socket, event, text = '') => {
  stored.set(event.id, event);
  say(socket, 'OK', event.id, true, text);
};

/// What happens to an event at its nth arrival (from 1).
const moods = {
  slow: (socket, event) => setTimeout(() => accept(socket, event), 300),
  silent: (socket, event, nth) => nth > 1 && accept(socket, event),
  limited: (socket, event, nth) =>
    nth > 1
      ? accept(socket, event)
      : say(socket, 'OK', event.id, false, 'rate-limited: slow down'),
  refusing: (socket, event) => say(socket, 'OK', event.id, false, 'blocked: not here'),
  duplicate: (socket, event) => accept(socket, event, 'duplicate: have this event'),
  // Says yes and forgets, the first time.
  forgetful: (socket, event, nth) =>
    nth > 1 ? accept(socket, event) : say(socket, 'OK', event.id, true, ''),
  // A frame of 100 bytes that ends after 12.
  cut: (socket, event, nth) => {
    if (nth > 1) return accept(socket, event);
    socket._socket.write(Buffer.from([0x81, 100, ...Buffer.from('["OK","abc')]));
    socket._socket.end();
  },
  garbage: (socket, event) => {
    for (const text of ['', 'nonsense', '[]', '["OK"]', '{"a":1}', '["OK",1,2,3]', '['.repeat(5000)])
      socket.send(text);
    socket.send(Buffer.from([0, 255, 254]), { binary: true });
    say(socket, 'NOTICE', 'x'.repeat(900 * 1024));
    say(socket, 'EVENT', 'read-1', { id: 'f'.repeat(64) });
    say(socket, 'OK', 'f'.repeat(64), true, '');
    accept(socket, event);
  },
  // A message over every limit: the client has to hang up.
  huge: (socket, event, nth) =>
    nth > 1 ? accept(socket, event) : say(socket, 'NOTICE', 'x'.repeat(3 * 1024 * 1024)),
};

const handlers = {
  EVENT: (socket, event) => {
    console.log(`EVENT ${event.id}`);
    const nth = (met.get(event.id) ?? 0) + 1;
    met.set(event.id, nth);
    moods[mode](socket, event, nth);
  },
  REQ: (socket, subscription, ...filters) => {
    for (const filter of filters)
      for (const id of filter.ids ?? [])
        if (stored.has(id)) say(socket, 'EVENT', subscription, stored.get(id));
    say(socket, 'EOSE', subscription);
  },
  CLOSE: () => {},
};

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
server.on('connection', (socket) => {
  console.log(`connected ${++connections}`);
  socket.on('message', (data) => {
    const [type, ...rest] = JSON.parse(data);
    handlers[type](socket, ...rest);
  });
  socket.on('error', () => {});
});
server.on('listening', () => console.log(`listening ${server.address().port}`));
