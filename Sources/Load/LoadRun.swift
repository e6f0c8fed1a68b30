import Foundation
import SyncModel
import Synchronization

/// The clock of a run, and whether clients are to write.
final class LoadClock: Sendable {
    private let beginning = ContinuousClock.now
    private let writing = Mutex(false)

    /// Nanoseconds since the run began.
    var now: Int64 {
        let (seconds, attoseconds) = (ContinuousClock.now - beginning).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    var isWriting: Bool { writing.withLock(\.self) }
    func write(_ writes: Bool) { writing.withLock { $0 = writes } }
}

/// Many clients against a gateway: opens their sessions, has them write for a while, waits for what is under way, and says how it went.
package struct LoadRun: Sendable {
    package enum Progress: Sendable, Equatable {
        case opening(Int)
        case open(Int)
        case measuring
        case waiting(acknowledgements: Int, deliveries: Int)
    }

    /// Why a run could not begin.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    private let plan: LoadPlan
    private let target: LoadTarget
    private let tokens: [String]
    private let told: @Sendable (Progress) -> Void

    /// - Parameters:
    ///   - tokens: access tokens of users, among whom the clients are divided.
    ///   - told: hears how far the run is.
    package init(
        _ plan: LoadPlan, _ target: LoadTarget, tokens: [String],
        told: @escaping @Sendable (Progress) -> Void = { _ in }
    ) {
        self.plan = plan
        self.target = target
        self.tokens = tokens
        self.told = told
    }

    package func run() async throws -> LoadReport {
        guard plan.clients > 0, !tokens.isEmpty else { throw Failure(description: "there is no client or no user") }
        try await declareClass()
        let (clock, gate, ledger) = (LoadClock(), Gate(), LoadLedger(plan))
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { await run(clients: 0..<plan.clients, clock, gate, ledger) }
            try await waitUntilOpen(ledger)
            clock.write(true)
            gate.open()
            try await Task.sleep(for: plan.warmUp)
            let from = clock.now
            ledger.measure(from: from, to: from + plan.duration.nanoseconds)
            told(.measuring)
            try await Task.sleep(for: plan.duration)
            clock.write(false)
            let seconds = Double(min(clock.now - from, plan.duration.nanoseconds)) / 1e9
            try await waitForTheRest(ledger)
            return ledger.report(seconds: seconds)
        }
    }

    private func run(clients: Range<Int>, _ clock: LoadClock, _ gate: Gate, _ ledger: LoadLedger) async {
        await withDiscardingTaskGroup { group in
            for number in clients {
                let client = LoadClient(
                    number, plan, target, token: tokens[number % tokens.count], clock, gate, ledger)
                group.addTask { await client.run() }
                let pause = Duration.seconds(1 / max(0.1, plan.connectRate))
                guard (try? await Task.sleep(for: pause)) != nil else { return }
            }
        }
    }

    /// Makes an app in flexible mode ready: the class is there, and may be queried.
    private func declareClass() async throws {
        guard plan.mode == .flexible else { return }
        let author = LoadAuthor(plan, target, token: tokens[0])
        do {
            try await withDeadline(.seconds(60)) { try await author.declare() }
            try await author.subscribe()
        } catch {
            throw Failure(
                description: "the class \(LoadWrites.className) could not be declared and subscribed to: \(error)")
        }
    }

    private func waitUntilOpen(_ ledger: LoadLedger) async throws {
        let patience = plan.patience + .seconds(Double(plan.clients) / max(0.1, plan.connectRate))
        let deadline = ContinuousClock.now + patience
        while !ledger.areAllOpen, ContinuousClock.now < deadline {
            told(.opening(ledger.openedCount))
            try await Task.sleep(for: .milliseconds(200))
        }
        guard ledger.openedCount > 0 else {
            let failures = ledger.report(seconds: 0).failures.sorted { $0.value > $1.value }
            throw Failure(
                description: "no client has a session"
                    + (failures.first.map { ": \($0.key) (\($0.value.counted("time")))" } ?? ""))
        }
        told(.open(ledger.liveCount))
    }

    private func waitForTheRest(_ ledger: LoadLedger) async throws {
        let deadline = ContinuousClock.now + plan.patience
        while ContinuousClock.now < deadline {
            let missing = ledger.missing
            guard missing.acknowledgements > 0 || missing.deliveries > 0 else { return }
            told(.waiting(acknowledgements: missing.acknowledgements, deliveries: missing.deliveries))
            try await Task.sleep(for: .milliseconds(200))
        }
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
