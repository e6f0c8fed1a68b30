import SeededRandom
import TestSupport
import Testing

@testable import Gateway

@Suite struct BindingPlanTests {
    /// The broker's side: does what it is asked in order, and answers later.
    private struct Broker {
        var bound: Set<String> = []
        var unanswered: [BindingPlan.Action] = []
        var asked: [BindingPlan.Action] = []

        mutating func take(_ actions: [BindingPlan.Action]) {
            for action in actions {
                asked.append(action)
                unanswered.append(action)
                switch action {
                case .bind(let key): bound.insert(key)
                case .unbind(let key): bound.remove(key)
                }
            }
        }

        mutating func answerAll(_ plan: inout BindingPlan) {
            while !unanswered.isEmpty {
                plan.done(unanswered.removeFirst(), failed: false)
                take(plan.next())
            }
        }

        func brings(_ key: String) -> Bool {
            bound.contains(key)
                || BindingPlan.group(of: key).map { bound.contains(BindingPlan.pattern(of: $0)) } ?? false
        }
    }

    @Test func aKeyIsBoundByItselfAndUnboundAWhileAfterItsLastUser() {
        var plan = BindingPlan(linger: 1_000)
        plan.retain("app.1")
        expectEqual(plan.next(), [.bind("app.1")])
        expectTrue(!plan.covers("app.1"))
        plan.done(.bind("app.1"), failed: false)
        expectTrue(plan.covers("app.1"))
        plan.retain("app.1")
        expectEqual(plan.next(), [])
        plan.release("app.1", at: 10)
        plan.release("app.1", at: 20)
        expectEqual(plan.tick(at: 1_019), [])
        expectEqual(plan.tick(at: 1_020), [.unbind("app.1")])
        expectTrue(!plan.covers("app.1"))
        plan.done(.unbind("app.1"), failed: false)
        expectEqual(plan.count, 0)
    }

    /// A key such as `*.settings` is bound by itself, and no other pattern stands for it.
    @Test func keysOfAllAppsAreWantedOfEachApp() {
        var plan = BindingPlan(linger: 1_000)
        plan.retain("*.settings")
        expectEqual(plan.next(), [.bind("*.settings")])
        plan.done(.bind("*.settings"), failed: false)
        expectTrue(plan.covers("*.settings") && plan.patternCount == 0)
        expectTrue(plan.wants("app.settings") && plan.wants("*.settings"))
        expectTrue(!plan.wants("app.1") && !plan.wants("app.generation") && !plan.wants("settings"))
    }

    @Test func aUserWhoComesDuringTheUnbindingHasItBoundAgain() {
        var plan = BindingPlan(linger: 0)
        plan.retain("app.1")
        _ = plan.next()
        plan.done(.bind("app.1"), failed: false)
        plan.release("app.1", at: 0)
        expectEqual(plan.tick(at: 0), [.unbind("app.1")])
        plan.retain("app.1")
        expectEqual(plan.next(), [])
        expectTrue(plan.isPending("app.1"))
        plan.done(.unbind("app.1"), failed: false)
        expectEqual(plan.next(), [.bind("app.1")])
    }

    @Test func aStormWaitsForOnePatternWhichGoesWhenAllKeysAreBound() {
        var plan = BindingPlan(linger: 5_000)
        var broker = Broker()
        let keys = (0..<10_000).map { "app.\($0)" }
        for key in keys {
            plan.retain(key)
            broker.take(plan.next())
        }
        expectEqual(broker.asked.count, BindingPlan.maxUnderWay + 1)
        expectEqual(broker.asked.last, .bind("app.*"))
        broker.answerAll(&plan)
        expectTrue(keys.allSatisfy(plan.covers))
        expectEqual(broker.asked.count, BindingPlan.maxUnderWay + 1)
        var now: UInt64 = 0
        while plan.patternCount > 0 || !broker.unanswered.isEmpty {
            now += 500
            let actions = plan.tick(at: now)
            expectTrue(actions.count <= BindingPlan.pace + 1)
            broker.take(actions)
            expectTrue(keys.allSatisfy { !plan.covers($0) || broker.brings($0) })
            broker.answerAll(&plan)
            guard now < 60_000 else { break }
        }
        expectEqual(broker.bound, Set(keys))
        expectTrue(keys.allSatisfy(plan.covers))
    }

    @Test func keysOfAnotherAppDoNotWaitForAStorm() {
        var plan = BindingPlan(linger: 0)
        var broker = Broker()
        for number in 0..<1_000 { plan.retain("storm.\(number)") }
        plan.retain("calm.1")
        broker.take(plan.next())
        broker.answerAll(&plan)
        expectTrue(plan.covers("calm.1"))
        expectTrue(broker.bound.contains("calm.1"))
        expectTrue(!broker.bound.contains("calm.*"))
    }

    @Test func aRefusedPatternLeavesEachKeyItsOwnBinding() {
        var plan = BindingPlan(linger: 0)
        let keys = (0..<1_000).map { "app.\($0)" }
        var pending: [BindingPlan.Action] = []
        for key in keys {
            plan.retain(key)
            pending += plan.next()
        }
        var asked = pending.count
        while !pending.isEmpty {
            let action = pending.removeFirst()
            plan.done(action, failed: action == .bind("app.*"))
            let next = plan.next()
            asked += next.count
            pending += next
            expectTrue(pending.count <= BindingPlan.maxUnderWay + 1)
        }
        expectEqual(asked, keys.count + 1)
        expectTrue(keys.allSatisfy(plan.covers))
        expectEqual(plan.patternCount, 0)
    }

    @Test func aBindingThatFailedIsAskedForAgainByTheNextUser() {
        var plan = BindingPlan(linger: 0)
        plan.retain("app.1")
        _ = plan.next()
        plan.done(.bind("app.1"), failed: true)
        expectTrue(!plan.isPending("app.1"))
        plan.retain("app.1")
        expectEqual(plan.next(), [.bind("app.1")])
    }

    @Test func aKeyWithoutAnAppHasNoPattern() {
        var plan = BindingPlan(linger: 0)
        var broker = Broker()
        for number in 0..<500 { plan.retain("word\(number)") }
        broker.take(plan.next())
        broker.answerAll(&plan)
        expectEqual(broker.bound.count, 500)
    }

    /// Keys that count as bound are bound, whatever comes and goes, fails or is declared anew; and in the end nothing
    /// else is.
    @Test(arguments: 0..<8 as Range<UInt64>) func keysThatCountAsBoundAreBound(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var plan = BindingPlan(linger: 2_000)
        var broker = Broker()
        var users: [String: Int] = [:]
        var now: UInt64 = 0
        var checked: [Int] = []
        for _ in 0..<3_000 {
            let key = "app\(UInt64.random(in: 0..<2, using: &random)).\(UInt64.random(in: 0..<300, using: &random))"
            switch UInt64.random(in: 0..<100, using: &random) {
            case 0..<60:
                plan.retain(key)
                users[key, default: 0] += 1
            case 60..<75:
                if let count = users[key], count > 0 {
                    plan.release(key, at: now)
                    users[key] = count - 1
                }
            case 75..<90:
                guard !broker.unanswered.isEmpty else { break }
                let action = broker.unanswered.removeFirst()
                let fails = UInt64.random(in: 0..<10, using: &random) == 0
                if fails, case .bind(let key) = action {
                    broker.bound.remove(key)
                    plan.done(action, failed: true)
                } else {
                    plan.done(action, failed: false)
                }
            case 90..<99:
                now += 500
                broker.take(plan.tick(at: now))
            default:
                guard UInt64.random(in: 0..<10, using: &random) == 0 else { break }
                broker.bound = []
                broker.unanswered = []
                plan.renew()
            }
            broker.take(plan.next())
            // Nothing else can have changed what is bound, or what counts as bound.
            let state = [broker.asked.count, broker.unanswered.count, plan.count]
            guard state != checked else { continue }
            checked = state
            let wrong = users.keys.first { plan.covers($0) && !broker.brings($0) }
            expectTrue(wrong == nil, "counts as bound, and is not, with seed \(seed)")
        }
        for key in users.keys where (users[key] ?? 0) > 0 {
            // A failed binding is asked for again by the next user.
            plan.retain(key)
            broker.take(plan.next())
        }
        for _ in 0..<200 {
            broker.answerAll(&plan)
            now += 500
            broker.take(plan.tick(at: now))
        }
        expectEqual(broker.bound, Set(users.filter { $0.value > 0 }.keys))
    }
}
