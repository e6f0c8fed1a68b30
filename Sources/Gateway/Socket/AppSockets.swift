import Storage
import Synchronization

/// Limits the sockets of each app and of each user, so that a flood from one leaves room for the others.
final class AppSockets: Sendable {
    /// The place of one open socket, free again once it is given up or released.
    final class Seat: Sendable {
        private let user: AppUser
        private let sockets: AppSockets
        private let isTaken = Atomic(true)

        fileprivate init(user: AppUser, sockets: AppSockets) {
            self.user = user
            self.sockets = sockets
        }

        func giveUp() {
            if isTaken.exchange(false, ordering: .acquiringAndReleasing) { sockets.free(user) }
        }

        /// Frees the place of a handshake that never became a connection.
        deinit { giveUp() }
    }

    enum Seating {
        case seat(Seat)
        /// The app has as many as it may.
        case appIsFull
        case userIsFull(limit: Int)
    }

    private struct Counts {
        var apps: [String: Int] = [:]
        var users: [AppUser: Int] = [:]
    }

    /// The sockets that one app may have.
    let limit: Int
    private let counts = Mutex(Counts())

    init(limit: Int) { self.limit = limit }

    /// - Parameters:
    ///   - user: empty for a socket that is opened only to say why it may not stay.
    ///   - userLimit: how many sockets the user may have.
    func seat(for user: AppUser, userLimit: Int) -> Seating {
        counts.withLock { counts in
            let ofApp = counts.apps[user.app, default: 0]
            guard ofApp < limit else { return .appIsFull }
            if !user.user.isEmpty {
                let ofUser = counts.users[user, default: 0]
                guard ofUser < userLimit else { return .userIsFull(limit: userLimit) }
                counts.users[user] = ofUser + 1
            }
            counts.apps[user.app] = ofApp + 1
            return .seat(Seat(user: user, sockets: self))
        }
    }

    func count(of app: String) -> Int { counts.withLock { $0.apps[app, default: 0] } }

    private func free(_ user: AppUser) {
        counts.withLock { counts in
            let left = counts.apps[user.app, default: 0] - 1
            counts.apps[user.app] = left > 0 ? left : nil
            guard !user.user.isEmpty else { return }
            let ofUser = counts.users[user, default: 0] - 1
            counts.users[user] = ofUser > 0 ? ofUser : nil
        }
    }
}
