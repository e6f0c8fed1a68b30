import Changesets
import RealmState
import TestSupport
import Testing

@testable import Query

/// What takes long is broken off and made elsewhere, or waits for the next turn; in the end it comes to the same.
@Suite struct EvaluationPatienceTests {
    private struct Trial {
        var key: ObjectKey
        var text: ByteString
        var steps: Int
        var holds = false

        var object: StoredObject { TaskRealm.object(["owner": .string(text)]) }

        func made(_ meter: EvaluationMeter) -> Bool {
            for _ in 0..<steps / 10 {
                guard !meter.isSpent else { return false }
                meter.take(10)
            }
            return holds
        }
    }

    private struct Scene {
        let trials: [Trial]
        var limits = EvaluationLimits()
        var perObject = 100_000
        var limit = Int.max
        var room = TrialAnswers.maxBytes

        func trial(_ trial: Trial, _ meter: EvaluationMeter) -> Bool? {
            meter.trial(
                { trial.made(meter) }, explain: { "here" },
                elsewhere: {
                    LongTrial(
                        .init(
                            className: "Task", query: "q", roles: "", version: nil, schema: 1, viewHash: 1,
                            key: trial.key, object: trial.object),
                        bytes: 100, { trial.made($0) }, explain: { _ in "elsewhere" })
                })
        }

        /// What all trials say in the end, whatever they have to wait for.
        func inTurns() throws -> (found: [Bool?], overrun: EvaluationMeter.Overrun?, turns: [Int], elsewhere: Int) {
            var answers = TrialAnswers()
            answers.room = room
            var turns: [Int] = []
            var elsewhere = 0
            while turns.count < 1_000 {
                let patience = EvaluationPatience(limits, answers: answers)
                let meter = EvaluationMeter(perObject: perObject, limit: limit, patience: patience)
                let found = trials.map { trial($0, meter) }
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
            return (trials.map { trial($0, meter) }, meter)
        }
    }

    /// Objects that take two steps for each byte of their texts, which have these lengths.
    private func scene(_ lengths: [Int]) -> Scene {
        Scene(
            trials: lengths.enumerated().map { index, length in
                Trial(
                    key: .int(Int64(index)), text: ByteString([UInt8](repeating: 0x61, count: length)),
                    steps: 2 * length)
            })
    }

    /// Texts of the same object, which differ at the end.
    private func alike(_ count: Int, length: Int) -> [Trial] {
        (0..<count).map { number in
            let text = [UInt8](repeating: 0x61, count: length - 1) + [UInt8(0x62 + number)]
            return Trial(key: .int(1), text: ByteString(text), steps: 2 * length, holds: number % 2 == 1)
        }
    }

    @Test func aLongTrialIsBrokenOffAndMadeElsewhere() throws {
        var scene = scene([10, 8_000, 10, 8_000])
        scene.limits.stepsPerTrialInSlice = 1_000
        let (found, meter) = scene.atOnce()
        let ends = try scene.inTurns()
        expectEqual(ends.found, found)
        expectTrue(meter.steps > 16_000 && ends.overrun == nil && ends.elsewhere == 2, "\(meter.steps) \(ends)")
        // What was begun here, and what comes before it.
        expectTrue(ends.turns.allSatisfy { $0 < 2_000 }, "\(ends.turns)")
    }

    @Test func manyTrialsTakeManyTurns() throws {
        var scene = scene([Int](repeating: 500, count: 40))
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
        var scene = scene([Int](repeating: 500, count: 40))
        scene.limits.stepsPerTrialInSlice = 2_000
        scene.limits.stepsInSlice = 5_000
        try expectEqual(scene.inTurns().turns.count, 1)
    }

    /// What is too much is so wherever it is found out.
    @Test func boundsAreTheSameInTurns() throws {
        for (perObject, limit) in [(5_000, Int.max), (100_000, 20_000), (5_000, 20_000), (100_000, 30_000)] {
            var scene = scene([100, 8_000, 300, 700, 8_000, 200])
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

    /// Comparing many texts that differ at their end alone takes longer than they are remembered for: the first few are, and the others are tried at
    /// once.
    @Test func fewOfObjectsThatLookAlikeAreRemembered() throws {
        var scene = Scene(
            trials: alike(20, length: 70_000) + scene([Int](repeating: 500, count: 20)).trials, perObject: 10_000_000)
        scene.limits.stepsPerTrialInSlice = 2_000
        scene.limits.stepsInSlice = 5_000
        scene.limits.stepsRemembered = 100
        let (found, meter) = scene.atOnce()
        let ends = try scene.inTurns()
        expectEqual(ends.found, found)
        expectTrue(meter.overrun == nil && ends.overrun == nil && ends.elsewhere == 8, "\(ends.elsewhere)")
    }

    /// Where there is no room to remember anything nothing is waited for.
    @Test func nothingIsWaitedForThatCannotBeRemembered() throws {
        var scene = scene([8_000, 8_000])
        scene.limits.stepsPerTrialInSlice = 1_000
        scene.limits.stepsInSlice = 2_000
        scene.room = 0
        let ends = try scene.inTurns()
        expectEqual(ends.found, scene.atOnce().found)
        expectTrue(ends.turns.count == 1 && ends.elsewhere == 0, "\(ends)")
    }

    /// A message is gone through once more in each of its turns: the more it takes, the longer they are.
    @Test func turnsGrowWithWhatAMessageTakes() throws {
        var scene = scene([Int](repeating: 500, count: 400))
        scene.limits.stepsPerTrialInSlice = 2_000
        scene.limits.stepsInSlice = 5_000
        scene.limits.stepsRemembered = 100
        let (found, meter) = scene.atOnce()
        let ends = try scene.inTurns()
        expectEqual(ends.found, found)
        expectTrue(ends.turns.count < meter.steps / 8_000, "\(ends.turns.count) \(meter.steps)")
        expectTrue(ends.turns.allSatisfy { $0 <= max(5_000, meter.steps / 8) }, "\(ends.turns)")
    }

    /// Another object under the same key is another trial.
    @Test func answersAreOfOneObjectAlone() throws {
        var scene = Scene(trials: alike(2, length: 8_000))
        scene.limits.stepsPerTrialInSlice = 1_000
        let ends = try scene.inTurns()
        expectEqual(ends.found, [false, true])
        expectEqual(ends.elsewhere, 2)
    }
}
