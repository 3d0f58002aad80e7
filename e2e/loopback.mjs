// Loaded before a server that would listen on every address of the machine: it listens where only this machine gets to it, on a port
// that is free, and says where.

import net from 'node:net';

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...given) {
    this.once('listening', () => console.log(`listening on http://127.0.0.1:${this.address().port}`));
    return listen.call(this, 0, '127.0.0.1', given.find(argument => typeof argument === 'function'));
};
