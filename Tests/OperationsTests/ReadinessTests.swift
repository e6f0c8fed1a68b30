import TestSupport
import Testing

@testable import Operations

@Suite struct ReadinessTests {
    @Test func nothingKnownIsNotReady() {
        expectTrue(!Readiness().isReady)
    }

    @Test func expectedComponentsKeepItNotReadyUntilAllReport() {
        let readiness = Readiness()
        readiness.set("worker.broker", ready: false, reason: "starting")
        readiness.set("worker.store", ready: false, reason: "starting")
        readiness.set("worker.broker", ready: true)
        expectTrue(!readiness.isReady)
        readiness.set("worker.store", ready: true, reason: "open")
        expectTrue(readiness.isReady)
        expectEqual(readiness.components.map(\.name), ["worker.broker", "worker.store"])
    }

    @Test func aComponentIsReadyWhenAllWhoSpeakOfItSaySo() {
        let readiness = Readiness()
        readiness.set("worker.store", ready: true, reason: "open")
        readiness.set("worker.store", of: "watch", ready: false, reason: "refused")
        expectTrue(!readiness.isReady)
        expectEqual(readiness.components.map(\.reason), ["refused"])
        readiness.set("worker.store", of: "watch", ready: true)
        expectTrue(readiness.isReady)
        expectEqual(readiness.components.map(\.reason), ["open"])
    }

    @Test func aComponentThatFallsIsGivenWithItsReason() {
        let readiness = Readiness()
        readiness.set("broker", ready: false, reason: "starting")
        readiness.set("broker", ready: true)
        readiness.set("broker", ready: false, reason: "blocked by an alarm")
        expectTrue(!readiness.isReady)
        expectEqual(readiness.component("broker")?.reason, "blocked by an alarm")
    }
}
