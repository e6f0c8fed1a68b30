import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// When a client connects, and what it does when a connection ends.
struct ConnectionMachineTests {
    /// Always the same: the first delay of a series is then one second exactly.
    private struct NoJitter: RandomNumberGenerator {
        func next() -> UInt64 { 0 }
    }

    private func connected(at now: UInt64 = 0) -> ConnectionMachine {
        var machine = ConnectionMachine()
        _ = machine.wanted(hasToken: true)
        _ = machine.opened(at: now, fastWithin: 0)
        return machine
    }

    private func end(_ machine: inout ConnectionMachine, _ end: ConnectionEnd, at now: UInt64 = 0)
        -> [ConnectionMachine.Action]
    {
        var random = NoJitter()
        return machine.ended(end, at: now, using: &random).actions
    }

    private func token(_ machine: inout ConnectionMachine, _ answer: ConnectionMachine.Answer)
        -> [ConnectionMachine.Action]
    {
        var random = NoJitter()
        return machine.tokenAnswered(answer, using: &random)
    }

    private func location(_ machine: inout ConnectionMachine, _ isReceived: Bool) -> [ConnectionMachine.Action] {
        var random = NoJitter()
        return machine.locationAnswered(isReceived, using: &random)
    }

    private func refuse(_ machine: inout ConnectionMachine, _ body: JSONErrorBody) -> [ConnectionMachine.Action] {
        var random = NoJitter()
        return machine.refused(.otherError, body, at: 0, using: &random)
    }

    private func silent(_ machine: inout ConnectionMachine) -> [ConnectionMachine.Action] {
        var random = NoJitter()
        return machine.fellSilent(at: 0, using: &random)
    }

    @Test func connectsWithATokenAndGetsOneFirstWithout() {
        var machine = ConnectionMachine()
        expectEqual(machine.wanted(hasToken: false), [.refreshToken])
        expectTrue(machine.wanted(hasToken: true).isEmpty)
        expectTrue(token(&machine, .received).isEmpty)
        expectEqual(machine.wanted(hasToken: true), [.open(1)])
        expectEqual(machine.phase, .connecting)
        expectTrue(machine.wanted(hasToken: true).isEmpty)
        let fast = machine.opened(at: 5, fastWithin: 100)
        expectTrue(!fast)
        expectTrue(machine.isConnected)
    }

    @Test func refusedTokenLogsTheUserOut() {
        var machine = ConnectionMachine()
        _ = machine.wanted(hasToken: false)
        expectEqual(token(&machine, .refused("why")), [.logOut("why")])
        expectEqual(machine.phase, .idle)
    }

    @Test func tokenThatCannotBeHadNowIsAskedForLater() {
        var machine = ConnectionMachine()
        _ = machine.wanted(hasToken: false)
        expectEqual(token(&machine, .failed), [.wait(1, .seconds(1))])
        // While connected, the connection goes on with the token that it has.
        var other = connected()
        expectTrue(token(&other, .failed).isEmpty)
        expectEqual(token(&other, .received), [.ping])
        expectTrue(other.isConnected)
    }

    @Test func lostConnectionIsTriedAgainAfterALongerAndLongerWait() {
        var machine = connected()
        for (wait, seconds) in [(1, 1), (2, 2), (3, 4)] as [(UInt64, Int)] {
            expectEqual(end(&machine, .unreachable), [.wait(wait, .seconds(seconds))])
            expectTrue(machine.wanted(hasToken: true).isEmpty)
            // An earlier wait, which was cut short.
            machine.waited(wait - 1)
            expectEqual(machine.phase, .waiting(wait))
            machine.waited(wait)
            expectEqual(machine.wanted(hasToken: true), [.open(machine.number)])
        }
        _ = end(&machine, .unreachable)
        machine.retryNow()
        expectEqual(machine.phase, .idle)
        _ = machine.wanted(hasToken: true)
        expectEqual(end(&machine, .unreachable), [.wait(5, .seconds(1))])
    }

    @Test func eventsOfAnEarlierConnectionAreToldApart() {
        var machine = connected()
        let first = machine.number
        _ = end(&machine, .lost)
        expectTrue(machine.number != first)
        machine.retryNow()
        guard case .open(let second)? = machine.wanted(hasToken: true).first else {
            return expectTrue(Bool(false), "expected a connection")
        }
        expectTrue(second != first)
    }

    @Test func reconnectIsFastOnlyAfterAShortLoss() {
        for (returns, isFast) in [(1050, true), (1150, false)] as [(UInt64, Bool)] {
            var machine = connected()
            _ = end(&machine, .lost, at: 1000)
            machine.retryNow()
            _ = machine.wanted(hasToken: true)
            let fast = machine.opened(at: returns, fastWithin: 100)
            expectEqual(fast, isFast)
        }
        // A connection that was closed because no session needed it was not lost.
        var machine = connected()
        machine.closed()
        _ = machine.wanted(hasToken: true)
        let fast = machine.opened(at: 1, fastWithin: 100)
        expectTrue(!fast)
    }

    @Test func unreachableServerThatNeverAnsweredIsLookedUpAnew() {
        var machine = ConnectionMachine()
        _ = machine.wanted(hasToken: true)
        expectEqual(end(&machine, .unreachable), [.wait(1, .seconds(1))])
        machine.waited(1)
        expectEqual(machine.wanted(hasToken: true), [.refreshLocation])
        expectEqual(location(&machine, false), [.wait(2, .seconds(2))])
        machine.waited(2)
        expectEqual(machine.wanted(hasToken: true), [.refreshLocation])
        expectTrue(location(&machine, true).isEmpty)
        expectEqual(machine.wanted(hasToken: true), [.open(machine.number)])
        // The address is right now: an end does not change that.
        expectEqual(end(&machine, .unreachable), [.wait(3, .seconds(4))])
        machine.waited(3)
        expectEqual(machine.wanted(hasToken: true), [.open(machine.number)])
    }

    @Test func closeCodesAreActedOn() {
        var machine = connected()
        expectEqual(end(&machine, .closeFrame(CloseCode(rawValue: 4001))), [.refreshToken])
        expectEqual(machine.phase, .preparing)
        machine = connected()
        expectEqual(end(&machine, .closeFrame(CloseCode(rawValue: 4003))), [.restartSessions, .refreshLocation])
        // The sessions that are started anew must not connect before the location is there.
        expectTrue(machine.wanted(hasToken: true).isEmpty)
        machine = connected()
        expectEqual(end(&machine, .closeFrame(CloseCode(rawValue: 4002))), [.logOut("the server refused the user")])
        expectEqual(machine.phase, .idle)
        machine = connected()
        expectEqual(end(&machine, .closeFrame(CloseCode(rawValue: 1009))), [.wait(1, .seconds(1)), .stopUpload])
    }

    @Test func serverThatRefusesForGoodIsTriedAgainOnlyWhenAsked() {
        var machine = connected()
        let body = JSONErrorBody(message: "", action: .applicationBug, tryAgain: false)
        expectTrue(refuse(&machine, body).isEmpty)
        expectEqual(machine.phase, .stopped)
        expectTrue(machine.wanted(hasToken: true).isEmpty)
        machine.retryNow()
        expectEqual(machine.wanted(hasToken: true), [.open(machine.number)])
        machine.violated(at: 0)
        expectEqual(machine.phase, .stopped)
    }

    @Test func serverThatSendsNoPongIsTriedAgain() {
        var machine = connected()
        expectEqual(silent(&machine), [.wait(1, .seconds(1))])
    }
}
