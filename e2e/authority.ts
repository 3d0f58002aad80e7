// A real authorization server (oidc-provider) and, in front of a real MCP server, a door that only opens to its tokens.
// Prints one line of JSON when both listen; ends with its standard input.
import http from "node:http";
import type { AddressInfo } from "node:net";
import { createRemoteJWKSet, jwtVerify } from "jose";
import Provider from "oidc-provider";

const upstream = process.argv[2];
// Seconds. Short, so that tokens are renewed while somebody looks.
const LIFETIME = 4;

const listen = (server: http.Server) =>
  new Promise<string>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });

const authority = http.createServer();
const door = http.createServer();
const [issuer, resource] = [await listen(authority), `${await listen(door)}/mcp`];

const counts: Record<string, number> = { registered: 0, authorization_code: 0, refresh_token: 0, client_credentials: 0, revoked: 0, refused: 0, passed: 0 };
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "robot",
      client_secret: "a secret that only robots know",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    },
  ],
  scopes: ["openid", "offline_access", "tools"],
  features: {
    registration: { enabled: true },
    revocation: { enabled: true },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: (_context, indicator) => {
        if (indicator !== resource) throw new Error(`unknown resource ${indicator}`);
        return { scope: "tools", audience: resource, accessTokenFormat: "jwt", accessTokenTTL: LIFETIME };
      },
    },
  },
  issueRefreshToken: async () => true,
  rotateRefreshToken: true,
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  cookies: { keys: ["loopback only"] },
  renderError: (context, _out, error) => {
    context.type = "text";
    context.body = String(error);
  },
});
provider.on("registration_create.success", () => counts.registered++);
provider.on("grant.success", (context) => counts[context.oidc.params?.grant_type as string]++);
provider.on("grant.revoked", () => counts.revoked++);
provider.on("refresh_token.destroyed", () => counts.revoked++);
for (const event of ["grant.error", "authorization.error", "registration_create.error", "server_error"] as const) {
  provider.on(event, (_context: unknown, error: Error & { error_description?: string }) =>
    console.error(event, error.message, error.error_description),
  );
}
authority.on("request", provider.callback());

const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
const metadata = new URL("/.well-known/oauth-protected-resource/mcp", resource);
door.on("request", async (request, response) => {
  if (request.url === "/counts") return response.end(JSON.stringify(counts));
  if (request.url === metadata.pathname) {
    response.setHeader("content-type", "application/json");
    return response.end(JSON.stringify({ resource, authorization_servers: [issuer], scopes_supported: ["tools"] }));
  }
  try {
    const token = request.headers.authorization?.replace(/^Bearer /, "") ?? "";
    await jwtVerify(token, keys, { issuer, audience: resource });
  } catch {
    counts.refused++;
    response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadata}", scope="tools"` });
    return response.end();
  }
  counts.passed++;
  const { authorization: _, host: __, ...headers } = request.headers;
  const forwarded = http.request(upstream, { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  forwarded.on("error", () => response.destroy());
  response.on("close", () => forwarded.destroy());
  request.pipe(forwarded);
});

console.log(JSON.stringify({ issuer, resource }));
process.stdin.resume().on("end", () => process.exit(0));
