import Changesets
import RealmState
import TestSupport
import Testing

@testable import Query

/// What takes long is broken off and made elsewhere, or waits for the next turn; in the end it comes to the same.
@Suite struct EvaluationPatienceTests {
    private struct Scene {
        let query: ObjectQuery
        let objects: [(key: ObjectKey, object: StoredObject)]
        var limits = EvaluationLimits()
        var perObject = 100_000
        var limit = Int.max

        func trial(_ index: Int, _ meter: EvaluationMeter) -> Bool? {
            let (key, object) = objects[index]
            return meter.trial(
                { query.matches(object, key: key, meter: meter) }, explain: { "here" },
                elsewhere: { [query] in
                    LongTrial(
                        .init(
                            className: "Task", query: "q", roles: "", version: nil, key: key, object: object),
                        bytes: 100,
                        { query.matches(object, key: key, meter: $0) }, explain: { _ in "elsewhere" })
                })
        }

        /// What all trials say in the end, whatever they have to wait for.
        func inTurns() throws -> (found: [Bool?], overrun: EvaluationMeter.Overrun?, turns: [Int], elsewhere: Int) {
            var answers = TrialAnswers()
            var turns: [Int] = []
            var elsewhere = 0
            while turns.count < 1_000 {
                let patience = EvaluationPatience(limits, answers: answers)
                let meter = EvaluationMeter(perObject: perObject, limit: limit, patience: patience)
                let found = objects.indices.map { trial($0, meter) }
                turns.append(meter.steps - meter.answeredSteps)
                answers = patience.answers
                switch patience.wait {
                case nil: return (found, meter.overrun, turns, elsewhere)
                case .turn?: break
                case .trial(let trial, let perObject)?:
                    elsewhere += 1
                    answers.add(trial.made(perObject: perObject), of: trial)
                }
                answers.settle()
            }
            throw QueryError.limit("no end in \(turns.count) turns", at: 0)
        }

        func atOnce() -> (found: [Bool?], meter: EvaluationMeter) {
            let meter = EvaluationMeter(perObject: perObject, limit: limit)
            return (objects.indices.map { trial($0, meter) }, meter)
        }
    }

    /// Objects with texts of these lengths, in which is looked for what is not there: two steps a byte or so.
    private func scene(_ lengths: [Int]) throws -> Scene {
        let objects = lengths.enumerated().map { index, length in
            (
                key: ObjectKey.int(Int64(index)),
                object: TaskRealm.object(["owner": .string(ByteString([UInt8](repeating: 0x61, count: length)))])
            )
        }
        return Scene(
            query: try TaskRealm.query("owner CONTAINS '\(String(repeating: "a", count: 50))b'"), objects: objects)
    }

    @Test func aLongTrialIsBrokenOffAndMadeElsewhere() throws {
        var scene = try scene([10, 8_000, 10, 8_000])
        scene.limits.stepsPerTrialInSlice = 1_000
        let (found, meter) = scene.atOnce()
        let ends = try scene.inTurns()
        expectEqual(ends.found, found)
        expectTrue(meter.steps > 16_000 && ends.overrun == nil && ends.elsewhere == 2, "\(meter.steps) \(ends)")
        // What was begun here, and what comes before it.
        expectTrue(ends.turns.allSatisfy { $0 < 2_000 }, "\(ends.turns)")
    }

    @Test func manyTrialsTakeManyTurns() throws {
        var scene = try scene([Int](repeating: 500, count: 40))
        scene.limits.stepsPerTrialInSlice = 2_000
        scene.limits.stepsInSlice = 5_000
        scene.limits.stepsRemembered = 100
        let (found, meter) = scene.atOnce()
        let ends = try scene.inTurns()
        expectEqual(ends.found, found)
        expectTrue(meter.steps > 20_000 && ends.elsewhere == 0 && ends.turns.count > meter.steps / 6_000, "\(ends)")
        expectTrue(ends.turns.allSatisfy { $0 <= 5_000 }, "\(ends.turns)")
    }

    /// Nothing that is too short to be remembered is waited for: the message would never come to its end.
    @Test func trialsThatAreNotRememberedAreMadeAtOnce() throws {
        var scene = try scene([Int](repeating: 500, count: 40))
        scene.limits.stepsPerTrialInSlice = 2_000
        scene.limits.stepsInSlice = 5_000
        try expectEqual(scene.inTurns().turns.count, 1)
    }

    /// What is too much is so wherever it is found out.
    @Test func boundsAreTheSameInTurns() throws {
        for (perObject, limit) in [(5_000, Int.max), (100_000, 20_000), (5_000, 20_000), (100_000, 30_000)] {
            var scene = try scene([100, 8_000, 300, 700, 8_000, 200])
            (scene.perObject, scene.limit) = (perObject, limit)
            scene.limits.stepsPerTrialInSlice = 1_000
            scene.limits.stepsInSlice = 3_000
            scene.limits.stepsRemembered = 100
            let (found, meter) = scene.atOnce()
            let ends = try scene.inTurns()
            expectEqual(ends.found, found, "\(perObject) \(limit)")
            expectEqual(ends.overrun, meter.overrun, "\(perObject) \(limit)")
        }
    }

    /// Another object under the same key is another trial.
    @Test func answersAreOfOneObjectAlone() throws {
        var scene = try scene([8_000, 8_000])
        scene.limits.stepsPerTrialInSlice = 1_000
        let text = [UInt8](repeating: 0x61, count: 7_999) + [0x62]
        let objects = [
            scene.objects[0], (scene.objects[0].key, TaskRealm.object(["owner": .string(ByteString(text))])),
        ]
        scene = Scene(query: scene.query, objects: objects, limits: scene.limits)
        let ends = try scene.inTurns()
        expectEqual(ends.found, [false, true])
        expectEqual(ends.elsewhere, 2)
    }
}
