import AMQP

/// One attempt at publishing: tells which publications have to be published again, by what the broker said of each. Pure.
struct PublishingRound {
    /// A publication that the broker has not taken.
    struct Failure {
        var publication: Publication
        var error: AMQPError
        /// Nobody misses it.
        var isExpendable: Bool
    }

    /// The publications that the broker has not taken, in order.
    private(set) var failures: [Failure] = []
    /// What is to be published next, in order: what must arrive and has not, and every change behind a change that has not. Whoever missed that
    /// one then gets all of them in order, some of them twice.
    private(set) var left: [Publication] = []

    /// The first publications of a list, up to a number of changes.
    static func part(of publications: [Publication], changes most: Int) -> [Publication] {
        var changes = 0
        let rest = publications.firstIndex { publication in
            if publication.isChange { changes += 1 }
            return changes > most
        }
        return Array(publications[..<(rest ?? publications.endIndex)])
    }

    /// - Parameters:
    ///   - errors: for each publication nil, or why the broker has not taken it.
    ///   - attempt: how often they were tried before.
    init(_ publications: [Publication], _ errors: [AMQPError?], attempt: Int) {
        var isBehindLostChange = false
        for (publication, error) in zip(publications, errors) {
            guard let error else {
                if isBehindLostChange, publication.isChange { left.append(publication) }
                continue
            }
            isBehindLostChange = isBehindLostChange || publication.isChange
            let isExpendable = publication.isExpendable(after: error, attempt: attempt)
            failures.append(Failure(publication: publication, error: error, isExpendable: isExpendable))
            if !isExpendable { left.append(publication) }
        }
    }
}
