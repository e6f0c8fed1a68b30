import Testing

@testable import Operations

@Suite struct ReadinessTests {
    @Test func nothingKnownIsNotReady() {
        #expect(!Readiness().isReady)
    }

    @Test func expectedComponentsKeepItNotReadyUntilAllReport() {
        let readiness = Readiness(expecting: ["worker.broker", "worker.store"])
        readiness.set("worker.broker", ready: true)
        #expect(!readiness.isReady)
        readiness.set("worker.store", ready: true, reason: "open")
        #expect(readiness.isReady)
        #expect(readiness.components.map(\.name) == ["worker.broker", "worker.store"])
    }

    @Test func aComponentThatFallsIsGivenWithItsReason() {
        let readiness = Readiness(expecting: ["broker"])
        readiness.set("broker", ready: true)
        readiness.set("broker", ready: false, reason: "blocked by an alarm")
        #expect(!readiness.isReady)
        #expect(readiness.component("broker")?.reason == "blocked by an alarm")
    }
}
