import Synchronization

/// Limits the sockets of each app, so that a flood from one app leaves room for the others.
final class AppSockets: Sendable {
    /// The place of one open socket, free again once it is given up or released.
    final class Seat: Sendable {
        private let app: String
        private let sockets: AppSockets
        private let isTaken = Mutex(true)

        fileprivate init(app: String, sockets: AppSockets) {
            self.app = app
            self.sockets = sockets
        }

        func giveUp() {
            let wasTaken = isTaken.withLock { isTaken in
                defer { isTaken = false }
                return isTaken
            }
            if wasTaken { sockets.free(app) }
        }

        /// For a handshake that never became a connection.
        deinit { giveUp() }
    }

    let limit: Int
    private let counts = Mutex<[String: Int]>([:])

    init(limit: Int) { self.limit = limit }

    /// Nil if the app has `limit` sockets already.
    func seat(for app: String) -> Seat? {
        let isFree = counts.withLock { counts in
            let count = counts[app, default: 0]
            guard count < limit else { return false }
            counts[app] = count + 1
            return true
        }
        return isFree ? Seat(app: app, sockets: self) : nil
    }

    func count(of app: String) -> Int { counts.withLock { $0[app, default: 0] } }

    private func free(_ app: String) {
        counts.withLock { counts in
            let left = counts[app, default: 0] - 1
            counts[app] = left > 0 ? left : nil
        }
    }
}
