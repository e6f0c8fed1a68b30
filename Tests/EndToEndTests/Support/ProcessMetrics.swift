import AsyncHTTPClient
import LocalCluster
import NIOCore

extension LocalCluster {
    /// A counter or gauge of a process, without dimensions, by its Prometheus name; 0 if it was never touched.
    func metric(_ metric: String, of name: String) async throws -> Double {
        // The last such line is of the process that runs now, whose log goes on where that of the one before it ended.
        let line = log(of: name).split(separator: "\n").last { $0.contains("operations endpoint listening") }
        guard let port = line?.firstMatch(of: /port=([0-9]+)/)?.1 else {
            throw LocalClusterError("\(name) does not say where its operations endpoint is")
        }
        let response = try await HTTPClient.shared.execute(
            HTTPClientRequest(url: "http://127.0.0.1:\(port)/metrics"), timeout: .minutes(1))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        let values = text.split(separator: "\n").compactMap { line -> Double? in
            let parts = line.split(separator: " ")
            return parts.count == 2 && parts[0] == metric ? Double(parts[1]) : nil
        }
        return values.first ?? 0
    }

    /// What hand-overs cost in deliveries made twice, counted since the cluster began.
    ///
    /// - Parameter successors: workers that live on, so that they can be asked.
    func redeliveries(among workers: [String], to successors: [String]) async throws -> Redeliveries {
        var made = 0.0
        for worker in successors { made += try await metric("sluice_worker_messages_redelivered_total", of: worker) }
        let lines = workers.flatMap { log(of: $0).split(separator: "\n") }
        return Redeliveries(
            made: Int(made), crossed: lines.count { $0.contains("crossed its consumer's cancellation") },
            givenBack: lines.count { $0.contains("deliveries go back to the queue") },
            handOvers: try await history().count { $0.how == "released" })
    }

    /// What a worker has logged of taking slices and letting them go.
    func ownership(of worker: String) -> String {
        log(of: worker).split(separator: "\n").filter { $0.contains(" slice ") || $0.contains("warning") }
            .joined(separator: "\n")
    }
}

struct Redeliveries {
    /// Deliveries that the broker had made before.
    var made: Int
    /// Deliveries that came to a worker after it was told that there would be no more.
    var crossed: Int
    /// Times that a worker gave back what it held.
    var givenBack: Int
    var handOvers: Int

    /// How many the broker may make on its own account: what it had given to a consumer when the cancellation came, which
    /// may be all that the consumer may hold, goes back to the queue within the broker, without a word to the client
    /// (rabbitmq-server issue 3729). Only `givenBack` is the worker's doing.
    var allowed: Int { crossed + handOvers * 200 }

    static func - (after: Redeliveries, before: Redeliveries) -> Redeliveries {
        Redeliveries(
            made: after.made - before.made, crossed: after.crossed - before.crossed,
            givenBack: after.givenBack - before.givenBack, handOvers: after.handOvers - before.handOvers)
    }
}
