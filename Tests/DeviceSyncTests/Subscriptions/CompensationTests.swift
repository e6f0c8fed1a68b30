import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// When the app hears of writes that the server undoes.
struct CompensationTests {
    private var compensations = Compensations()

    private func body(_ version: UInt64, _ client: UInt64 = 1, _ message: String = "undone") -> JSONErrorBody {
        var body = JSONErrorBody(code: .compensatingWrite, message: message, action: .warning, tryAgain: true)
        body.compensatingWriteServerVersion = ServerVersion(version)
        body.rejectedClientVersion = ClientVersion(client)
        body.rejectedUpdates = [RejectedUpdate(table: "Task", primaryKey: .int(7), reason: "no")]
        return body
    }

    @Test mutating func anErrorWaitsForItsVersion() {
        expectTrue(compensations.announce(body(5), reached: 4).isEmpty)
        expectTrue(compensations.announce(body(7, 2, "later"), reached: 4).isEmpty)
        expectTrue(compensations.reach(4).isEmpty)
        let told = compensations.reach(6)
        expectTrue(told.map(\.message) == ["undone"] && told.first?.code == .writeRejected)
        expectEqual(told.first?.compensatingWriteInfo?.first?.primaryKey.intValue, 7)
        expectTrue(compensations.reach(6).isEmpty)
        expectEqual(compensations.reach(9).map(\.message), ["later"])
    }

    @Test mutating func anErrorThatIsSaidAgainIsOne() {
        _ = compensations.announce(body(5), reached: 4)
        _ = compensations.announce(body(5), reached: 4)
        _ = compensations.announce(body(5, 2), reached: 4)
        expectEqual(compensations.reach(5).count, 2)
    }

    @Test mutating func anErrorThatComesLateIsToldAtOnce() {
        expectEqual(compensations.announce(body(5), reached: 5).count, 1)
        expectTrue(compensations.reach(6).isEmpty)
    }

    @Test mutating func theOldestIsToldEarlyIfThereAreTooMany() {
        for number in 1...1_000 {
            expectTrue(
                compensations.announce(body(UInt64(number) + 10, UInt64(number), "\(number)"), reached: 1).isEmpty)
        }
        expectEqual(compensations.announce(body(9_999, 9_999), reached: 1).map(\.message), ["1"])
        expectEqual(compensations.reach(10_000).count, 1_000)
    }
}
