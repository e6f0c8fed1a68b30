import DeviceSync
import Foundation

/// Gives every task to a member of the team.
///
/// What is to be done stands in the data: tasks without an assignee. There is no queue and no bookmark beside it that could be lost
/// or run ahead. An answer is durable here when `write` returns, and uploaded from then on, also by the next process.
@MainActor
final class Assigner {
    private let realm: Realm
    private let team: Team
    private let session: SyncSession
    /// The most tasks that one transaction answers, so that the server gets answers in pieces that it can take in its stride.
    private let batch = 100

    init(user: User, team: Team) async throws {
        self.team = team
        var configuration = user.flexibleSyncConfiguration(initialSubscriptions: { subscriptions in
            // The copy stays as small as the work that is left: what is assigned leaves it.
            subscriptions.append(QuerySubscription<Todo>(name: "unassigned") { $0.assignee == nil })
        })
        configuration.objectTypes = [Todo.self]
        realm = try await Realm(configuration: configuration, downloadBeforeOpen: .once)
        guard let session = realm.syncSession else { throw AssignerError() }
        self.session = session
    }

    private var unassigned: Results<Todo> { realm.objects(Todo.self).where { $0.assignee == nil } }

    /// Answers until `stop` ends, then sees to it that the server has what was answered.
    func run(until stop: AsyncStream<Void>) async throws {
        // Several changes that come while one is answered are one: each time everything that is there is looked at.
        let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let token = unassigned.observe(on: .main) { _ in changed.yield() }
        let stopping = Task {
            for await _ in stop { break }
            changed.finish()
        }
        Output.show("assigning")
        for await _ in changes { try await answer() }
        stopping.cancel()
        token.invalidate()
        try await session.wait(for: .upload)
    }

    private func answer() async throws {
        while !unassigned.isEmpty {
            // Looked for inside the transaction: before it, what another program has answered could be taken away.
            let assigned = try realm.write { Array(unassigned.prefix(batch)).map(assign) }
            for line in assigned { Output.show(line) }
            // Others may run between two batches.
            await Task.yield()
        }
    }

    private func assign(_ task: Todo) -> String {
        let member = team.member(for: task._id)
        task.assignee = member
        task.assignedAt = Date()
        return "\(task.title): \(member)"
    }
}

struct AssignerError: Error, CustomStringConvertible {
    var description: String { "the realm is not synced" }
}
