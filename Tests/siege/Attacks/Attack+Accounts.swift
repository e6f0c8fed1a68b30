import SeededRandom

/// Attacks on accounts, tokens and the clients' HTTP API.
extension Attack {
    static let accounts = [
        Attack("logins", "wrong passwords for names that are tried one after another, from one address and from many") {
            stranger in
            await stranger.lanes(6, rest: .zero) { lane in
                for number in 0..<1_000 where !stranger.isOver {
                    let source = lane.number < 2 ? 0 : lane.random.below(2_000)
                    let name = "user\(lane.random.below(10_000))@example.net"
                    _ = try? await Account.login(
                        name, "guess \(number)", of: stranger.target.honest, stranger.exchange(source))
                }
            }
        },
        Attack("one-account", "wrong passwords for a user of the honest app, from hundreds of addresses") { stranger in
            await stranger.lanes(6, rest: .zero) { lane in
                for number in 0..<1_000 where !stranger.isOver {
                    _ = try? await Account.login(
                        stranger.target.honestEmail, "guess \(number)", of: stranger.target.honest,
                        stranger.exchange(lane.random.below(500)))
                }
            }
        },
        Attack("registrations", "new accounts and new anonymous users, as fast as they are made") { stranger in
            await stranger.lanes(4, rest: .zero) { lane in
                for number in 0..<1_000 where !stranger.isOver {
                    let exchange = stranger.exchange(lane.number)
                    if lane.number == 0 {
                        let name = "made-\(lane.round)-\(number)@example.net"
                        try? await Account.register(name, "correct horse", of: stranger.target.app, exchange)
                    } else {
                        _ = try? await Account.anonymous(of: stranger.target.app, exchange)
                    }
                }
            }
        },
        Attack("refreshes", "refreshes with a good token, with forged ones and with none") { stranger in
            await stranger.lanes(6, rest: .zero) { lane in
                let account = try await stranger.account(lane.number)
                let parts = account.refreshToken.split(separator: ".")
                for _ in 0..<1_000 where !stranger.isOver {
                    var forged = account
                    switch lane.random.below(4) {
                    case 0: break
                    case 1: forged.refreshToken = parts.prefix(2).joined(separator: ".") + ".AAAA"
                    case 2: forged.refreshToken = account.accessToken
                    default:
                        // A key that was never there, in the header of a token that is otherwise whole.
                        let header = #"{"alg":"ES256","typ":"JWT","kid":"\#(lane.random.below(100_000))"}"#
                        forged.refreshToken = ([MadeUpToken.base64(header)] + parts.dropFirst().map(String.init))
                            .joined(
                                separator: ".")
                    }
                    _ = try? await forged.refresh(stranger.exchange(lane.number))
                }
            }
        },
        Attack("huge-json", "deep, long and broken JSON, long paths and headers, to every route that takes a body") {
            stranger in
            await stranger.lanes(4) { lane in
                let account = try await stranger.account(lane.number)
                let app = "\(Account.root)/app/\(stranger.target.app)"
                let paths = [
                    "\(app)/auth/providers/local-userpass/login", "\(app)/auth/providers/local-userpass/register",
                    "\(app)/auth/providers/anon-user/login", "\(app)/auth/providers/api-key/login",
                    "\(app)/auth/providers/custom-token/login", "\(Account.root)/auth/api_keys",
                    "\(app)/sync/reset-outcomes", "\(app)/auth/providers/local-userpass/reset/send",
                ]
                for _ in 0..<1_000 where !stranger.isOver {
                    let path = paths[lane.random.below(paths.count)]
                    let isReport = path.hasSuffix("outcomes")
                    let bearer = isReport ? account.accessToken : account.refreshToken
                    let long = lane.random.below(20) == 0
                    _ = try? await stranger.exchange(lane.number).ask(
                        "POST", long ? path + String(repeating: "/a", count: 30_000) : path,
                        body: json(&lane.random), bearer: bearer,
                        headers: lane.random.below(20) == 0 ? ["X-A: " + String(repeating: "a", count: 90_000)] : [],
                        patience: .seconds(15))
                }
            }
        },
        Attack("dripping-keys", "logins by tokens of a service that publishes its keys a byte at a time") { stranger in
            let keys = try await DrippingKeys.start(port: stranger.target.keyPort)
            await stranger.lanes(8, rest: .zero) { lane in
                for number in 0..<1_000 where !stranger.isOver {
                    let token = MadeUpToken.text(
                        header: #"{"alg":"ES256","typ":"JWT","kid":"\#(lane.random.below(100_000))"}"#,
                        claims: #"{"sub":"user \#(number)","aud":"\#(stranger.target.keyed)","exp":4000000000}"#)
                    try? await Account.login(
                        byToken: token, of: stranger.target.keyed, stranger.exchange(lane.random.below(500)))
                }
            }
            await keys.stop()
        },
    ]

    private static func json(_ random: inout SeededGenerator) -> [UInt8] {
        func text(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }
        let bodies = [
            text("[", 60_000), text("{\"a\":", 12_000), text("[", 30_000) + text("]", 30_000),
            "{\"username\":\"" + text("a", 60_000) + "\",\"password\":\"b\"}", "[" + text("{},", 20_000) + "{}]",
            "{" + (0..<4_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",") + "}", "1e" + text("9", 50_000),
            text("9", 60_000), "\"" + text("\\ud800", 8_000) + "\"", text("{}", 500_000), text("\u{0}", 1_000),
            #"{"username":null,"password":{"$gt":""}}"#, #"{"username":["a"],"password":7,"options":[]}"#,
        ]
        return Array(bodies[random.below(bodies.count)].utf8)
    }
}
