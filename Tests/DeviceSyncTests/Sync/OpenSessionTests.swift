import Foundation
import Logging
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// One session and its copy of a realm, without a connection.
struct OpenSessionTests {
    private let retries = SyncRetries()

    private func open(_ core: RealmCore, isFlexible: Bool = false) -> OpenSession {
        OpenSession(
            .main, core, ident: 1, target: "null", isFlexible: isFlexible, holdsIdent: false, lastMark: 0,
            retries: retries, logger: Logging.Logger(label: "test"))
    }

    private static func newCore() throws -> RealmCore {
        try RealmCore(location: .memory(UUID().uuidString), isSynced: true)
    }

    private static let ident = ServerMessage.ident(session: 1, file: ClientFileIdent(ident: 5, salt: 6))

    @Test func anIdentityIsKeptBeforeItIsUsed() throws {
        let core = try Self.newCore()
        let session = open(core)
        guard case .bind = try session.nextMessage() else { return expectTrue(false) }
        guard case .identified = try session.receive(Self.ident, .maximum, nil) else { return expectTrue(false) }
        expectEqual(core.sync.ident, ClientFileIdent(ident: 5, salt: 6))
        guard case .ident = try session.nextMessage() else { return expectTrue(false) }
    }

    @Test func whatTheStorageCannotDoIsNamed() throws {
        let core = try Self.newCore()
        let session = open(core)
        _ = try session.nextMessage()
        try core.file.close()
        do throws(SessionFailure) {
            _ = try session.receive(Self.ident, .maximum, nil)
            expectTrue(false)
        } catch .storage(let work, _) {
            expectEqual(work, .identity)
        }
    }

    @Test func aRefusedSetIsNoted() throws {
        let core = try Self.newCore()
        try core.updateSubscriptions { _ = $0.append([], snapshot: 1) }
        let session = open(core, isFlexible: true)
        _ = try session.nextMessage()
        let message = ServerMessage.queryError(QueryError(session: 1, queryVersion: 1, message: "no"))
        guard case .refused(1, "no") = try session.receive(message, .maximum, nil) else { return expectTrue(false) }
        expectEqual(core.subscriptions.outcome(of: 1), .refused("no"))
    }
}
