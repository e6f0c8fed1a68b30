/// Decides which letters go when the dead-letter queue is full: the oldest of the apps that fill it.
package struct DeadLetterQuota: Sendable {
    package struct Letter: Sendable, Hashable {
        package var name: String
        package var app: String?
        package var diedAt: UInt64?

        package init(name: String, app: String?, diedAt: UInt64?) {
            self.name = name
            self.app = app
            self.diedAt = diedAt
        }
    }

    /// How many letters the queue may hold before some go.
    package var most: Int

    package init(most: Int) { self.most = most }

    /// How many letters are left when some have gone: a tenth less than may be, so that the next one does not make work again.
    var left: Int { most - most / 10 }

    /// The letters that go. Every app keeps as many as every other one may, or all that it has.
    package func surplus(of letters: [Letter]) -> [Letter] {
        guard letters.count > most else { return [] }
        let byApp = Dictionary(grouping: letters, by: \.app)
        let share = share(of: byApp.values.map(\.count))
        return byApp.values.flatMap { letters in
            letters.sorted { ($0.diedAt ?? 0, $0.name) < ($1.diedAt ?? 0, $1.name) }.dropLast(share)
        }
    }

    /// The most letters that each app can keep for all together to be `left`.
    private func share(of counts: [Int]) -> Int {
        var room = left
        for (index, count) in counts.sorted().enumerated() {
            let share = room / (counts.count - index)
            guard count <= share else { return share }
            room -= count
        }
        return room
    }
}
