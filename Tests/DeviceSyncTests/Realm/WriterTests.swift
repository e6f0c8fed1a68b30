import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// One writer at a time: others wait, and who would wait for itself traps.
@Suite(.hangGuard)
struct WriterTests {
    private static let message = "a nested write would wait for itself for ever"

    private func trapsWithTheMessage(_ result: ExitTest.Result?) -> Bool {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).contains(Self.message)
    }

    @Test func aNestedWriteThroughAnotherRealmTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let folder = Folder()
            let outer = try Realm(configuration: folder.configuration)
            let inner = try Realm(configuration: folder.configuration)
            try outer.write { try inner.write {} }
        }
        expectTrue(trapsWithTheMessage(result))
    }

    @Test func aWriteAfterBeginWriteOfTheSameTaskTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let folder = Folder()
            let outer = try await Realm(configuration: folder.configuration)
            let inner = try await Realm(configuration: folder.configuration)
            outer.beginWrite()
            try await inner.asyncWrite {}
        }
        expectTrue(trapsWithTheMessage(result))
    }

    @Test func aWriteInsideAnAsyncWriteTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let folder = Folder()
            let outer = try await Realm(configuration: folder.configuration)
            let inner = try await Realm(configuration: folder.configuration)
            try await outer.asyncWrite { inner.beginWrite() }
        }
        expectTrue(trapsWithTheMessage(result))
    }

    @Test(arguments: [true, false])
    func aWriteOnAnotherThreadWaits(throughTheSameRealm: Bool) async throws {
        let folder = Folder()
        let first = try await Realm(configuration: folder.configuration)
        let second = throughTheSameRealm ? first : try await Realm(configuration: folder.configuration)
        let gate = Gate()
        let holder = Thread.start {
            try first.write {
                gate.pass()
                first.dynamicCreate("Task", value: ["_id": "a"])
            }
        }
        await gate.reached()
        let waiter = Thread.start {
            _ = try second.write { second.dynamicCreate("Task", value: ["_id": "b", "count": 1]) }
        }
        let lock = first.instance.core.lock
        await expectTrue(eventually { lock.waitingCount == 1 })
        gate.open()
        _ = try await holder.value
        try await waiter.value
        expectEqual(first.titles().keys.sorted(), ["a", "b"])
    }

    /// A transaction that was begun in one task is no reason to trap for another that runs on the same thread.
    @Test func aWriteOfAnotherTaskWaitsForOneThatWasBegun() async throws {
        let folder = Folder()
        let first = try await Realm(configuration: folder.configuration)
        let second = try await Realm(configuration: folder.configuration)
        first.beginWrite()
        let waiter = Task { try await second.asyncWrite { second.isEmpty } }
        let lock = first.instance.core.lock
        await expectTrue(eventually { lock.waitingCount == 1 })
        first.dynamicCreate("Task", value: ["_id": "a"])
        try first.commitWrite()
        try await expectTrue(!waiter.value)
    }

    /// More than there are threads; in the order in which they asked.
    @Test func asyncWritesThatWaitTakeNoThreads() async throws {
        let folder = Folder()
        let realm = try await Realm(configuration: folder.configuration)
        let gate = Gate()
        let holder = Thread.start { try realm.write { gate.pass() } }
        await gate.reached()
        let lock = realm.instance.core.lock
        var writes: [Task<Void, any Error>] = []
        for number in 0..<600 {
            writes.append(
                Task {
                    try await realm.asyncWrite {
                        expectEqual(realm.dynamicObjects("Task").count, number)
                        realm.dynamicCreate("Task", value: ["_id": "\(number)"])
                    }
                })
            await expectTrue(eventually { lock.waitingCount == number + 1 })
        }
        try await expectTrue(Realm(configuration: Folder().configuration).isEmpty)
        gate.open()
        try await holder.value
        for write in writes { try await write.value }
        expectEqual(realm.dynamicObjects("Task").count, 600)
    }

    /// Another task may run on the block's thread between the block and the commit of an asynchronous write.
    @Test func theThreadOfABlockThatIsOverMayWait() async throws {
        let lock = WriteLock()
        await lock.lockWithoutBlocking()
        let waiter = Thread.start {
            lock.run({}, isHeld: { true })
            lock.lock()
            lock.unlock()
        }
        await expectTrue(eventually { lock.waitingCount == 1 })
        lock.unlock()
        try await waiter.value
    }
}
