import SeededRandom

/// Attacks on the operators' door.
extension Attack {
    static let operators = [
        Attack("admin-tokens", "the admin API with wrong tokens, with none, and with large bodies") { stranger in
            await stranger.lanes(4, rest: .zero) { lane in
                let paths = [
                    "/api/admin/v1/apps", "/api/admin/v1/campaigns", "/api/admin/v1/cluster/slices",
                    "/api/admin/v1/users", "/",
                ]
                for number in 0..<1_000 where !stranger.isOver {
                    let exchange = HTTPExchange(
                        port: stranger.target.coordinatorPort, source: Stranger.address(lane.number),
                        tally: stranger.tally)
                    let token = (0..<32).map { _ in String(lane.random.below(16), radix: 16) }.joined()
                    let body = [UInt8](repeating: 0x5B, count: number % 8 == 7 ? 1_000_000 : 10)
                    _ = try? await exchange.ask(
                        number % 3 == 0 ? "GET" : "POST", paths[lane.random.below(paths.count)],
                        body: number % 3 == 0 ? [] : body, bearer: number % 5 == 0 ? nil : token,
                        patience: .seconds(15))
                }
            }
        }
    ]
}
