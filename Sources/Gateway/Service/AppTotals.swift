import Messages
import Synchronization

/// What each app's clients have sent and got since the gateway started, as coordinators are told.
final class AppTotals: Sendable {
    /// Apps that are counted; what is seen beyond them is not told of.
    static let most = 10_000

    private let totals = Mutex<[String: AppFigures]>([:])

    func add(to app: String, _ change: (inout AppFigures) -> Void) {
        totals.withLock { totals in
            guard totals.count < Self.most || totals[app] != nil else { return }
            change(&totals[app, default: AppFigures()])
        }
    }

    /// The apps that have the most sessions, and then those that have uploaded the most.
    ///
    /// - Parameter sessions: by app, as they are now.
    func largest(_ count: Int, sessions: [String: Int]) -> [String: AppFigures] {
        var figures = totals.withLock { $0 }
        for (app, number) in sessions { figures[app, default: AppFigures()].sessions = number }
        guard figures.count > count else { return figures }
        let order = figures.sorted {
            ($1.value.sessions, $1.value.changesets, $0.key) < ($0.value.sessions, $0.value.changesets, $1.key)
        }
        return Dictionary(uniqueKeysWithValues: order.prefix(count).map { ($0.key, $0.value) })
    }
}
