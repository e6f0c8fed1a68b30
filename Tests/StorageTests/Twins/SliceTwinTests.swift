import Storage
import SyncModel
import TestSupport
import Testing

/// All engines side by side: whatever is done with a slice, each has done the same with it.
@Suite(.hangGuard) struct SliceTwinTests {
    private static let steps = 100

    @Test(arguments: [1, 2, 3] as [UInt64])
    func enginesAgreeAfterEveryStep(_ seed: UInt64) async throws {
        try await SliceTwin.withAll { twins in
            var maker = SliceStepMaker(seed: seed)
            for number in 1...Self.steps {
                let step = maker.next(try await SliceSituation(twins[0].store(0)))
                let (realm, probe) = maker.probe()
                let place = maker.place()
                var readings: [(engine: String, found: [Reading])] = []
                for index in twins.indices {
                    let outcome = try await step.run(on: &twins[index], maker.scope)
                    let store = twins[index].store(place)
                    let found = try await maker.scope.everything(in: store, realm, probe)
                    readings.append((twins[index].engine, [Reading("outcome", outcome)] + found))
                }
                if let difference = [Reading].difference(readings) {
                    Issue.record("seed \(seed), step \(number): \(step)\n\(difference)")
                    return
                }
            }
        }
    }
}
