import Testing

@testable import Operations

@Suite struct ReadinessTests {
    @Test func nothingKnownIsNotReady() {
        #expect(!Readiness().isReady)
    }

    @Test func expectedComponentsKeepItNotReadyUntilAllReport() {
        let readiness = Readiness()
        readiness.set("worker.broker", ready: false, reason: "starting")
        readiness.set("worker.store", ready: false, reason: "starting")
        readiness.set("worker.broker", ready: true)
        #expect(!readiness.isReady)
        readiness.set("worker.store", ready: true, reason: "open")
        #expect(readiness.isReady)
        #expect(readiness.components.map(\.name) == ["worker.broker", "worker.store"])
    }

    @Test func aComponentThatFallsIsGivenWithItsReason() {
        let readiness = Readiness()
        readiness.set("broker", ready: false, reason: "starting")
        readiness.set("broker", ready: true)
        readiness.set("broker", ready: false, reason: "blocked by an alarm")
        #expect(!readiness.isReady)
        #expect(readiness.component("broker")?.reason == "blocked by an alarm")
    }
}
