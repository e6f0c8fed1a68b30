import Foundation

/// The clients of one run, opened a window at a time: the measurements begin when all of them are live.
final class Fleet {
    let clients: [LoadClient]
    private let loop: LoadLoop

    init(_ clients: [LoadClient], on loop: LoadLoop) {
        self.clients = clients
        self.loop = loop
    }

    /// Opens all sessions and waits for the first DOWNLOAD of each.
    func open(_ cluster: BenchCluster, window: Int = 64) throws {
        var live = 0
        var next = 0
        for client in clients { client.onLive = { _ in live += 1 } }
        try loop.serve("\(clients.count) sessions are open", upTo: .seconds(60 + clients.count / 20)) {
            while next < clients.count, next - live < window {
                let token = clients[next].mode == .flexible ? cluster.flexibleToken : cluster.accessToken
                try loop.connect(clients[next], port: cluster.cluster.gatewayPort, token: token)
                next += 1
                if next.isMultiple(of: 1000) { progress("\(next) of \(clients.count) sessions") }
            }
            return live == clients.count
        }
        for client in clients { client.onLive = { _ in } }
    }

    struct Upload {
        var seconds: Double
        /// When the first UPLOAD was sent.
        var start: Int64
    }

    /// All clients send everything at once; the clock runs until the last acknowledgement.
    func upload(_ loads: [Workload], upTo limit: Duration = .seconds(300)) throws -> Upload {
        var open = clients.count
        var last: Int64 = 0
        for (client, load) in zip(clients, loads) {
            var isAcknowledged = false
            client.onDownload = { client in
                guard !isAcknowledged, client.head.uploadedClientVersion >= load.lastVersion else { return }
                isAcknowledged = true
                open -= 1
                last = MonotonicTime.now
            }
        }
        let start = MonotonicTime.now
        for (client, load) in zip(clients, loads) {
            client.clientVersion = load.lastVersion
            client.sendFrames(load.frames)
        }
        var sayAt = start + 10_000_000_000
        try loop.serve("everything is acknowledged", upTo: limit) {
            if MonotonicTime.now > sayAt {
                sayAt += 10_000_000_000
                let waiting = zip(clients, loads).filter { $0.0.head.uploadedClientVersion < $0.1.lastVersion }
                progress("\(waiting.count) clients wait, the first at \(waiting.first?.0.head as Any)")
            }
            return open == 0
        }
        return Upload(seconds: MonotonicTime.seconds(last - start), start: start)
    }
}
