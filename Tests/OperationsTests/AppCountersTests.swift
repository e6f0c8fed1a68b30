import Metrics
import TestSupport
import Testing

@testable import Operations

private enum Counted: String, AppCounter {
    case gaps = "uploads.gaps"
    case denied = "uploads.denied"

    var label: CounterLabel? { self == .denied ? CounterLabel("reason", ["rules", "user"]) : nil }
}

@Suite struct GrowingCounterTests {
    @Test func totalsBecomeWhatACounterHasGrownBy() {
        let registry = PrometheusRegistry()
        let counter = GrowingCounter(Counter(label: "spool.failures", factory: registry))
        func value() -> String? {
            registry.render().split(separator: "\n").first { $0.hasPrefix("spool_failures_total ") }.map(String.init)
        }
        expectEqual(value(), "spool_failures_total 0")
        for total in [0, 2, 2, 5] { counter.show(total) }
        expectEqual(value(), "spool_failures_total 5")
        // Two that tell at once may come in the wrong order.
        counter.show(3)
        counter.show(6)
        expectEqual(value(), "spool_failures_total 6")
    }
}

@Suite struct AppCountersTests {
    private let registry = PrometheusRegistry()

    private func lines(_ name: String) -> [Substring] {
        registry.render().split(separator: "\n").filter { $0.hasPrefix("\(name)_total{") }
    }

    @Test func allCountersOfAnAppAreAt0OnceTheAppIsSeen() {
        let counters = AppCounters<Counted>(factory: registry)
        expectTrue(lines("uploads_gaps").isEmpty)
        counters.see("tasks")
        expectEqual(lines("uploads_gaps"), [#"uploads_gaps_total{app="tasks"} 0"#])
        expectEqual(
            lines("uploads_denied"),
            [
                #"uploads_denied_total{app="tasks",reason="rules"} 0"#,
                #"uploads_denied_total{app="tasks",reason="user"} 0"#,
            ])
    }

    @Test func theFirstEventOfAnAppShowsItsOtherCountersToo() {
        let counters = AppCounters<Counted>(factory: registry)
        counters.count(.denied, "tasks", "user", by: 2)
        counters.see("tasks")
        counters.count(.gaps, "tasks", by: 0)
        expectEqual(lines("uploads_gaps"), [#"uploads_gaps_total{app="tasks"} 0"#])
        expectTrue(lines("uploads_denied").contains(#"uploads_denied_total{app="tasks",reason="user"} 2"#))
        expectTrue(lines("uploads_denied").contains(#"uploads_denied_total{app="tasks",reason="rules"} 0"#))
    }

    @Test func whatIsOfNoAppShowsNothingElse() {
        let counters = AppCounters<Counted>(factory: registry)
        counters.count(.gaps, "")
        expectEqual(lines("uploads_gaps"), [#"uploads_gaps_total{app=""} 1"#])
        expectTrue(lines("uploads_denied").isEmpty)
    }

    @Test func manyAppsLeaveRoomForWhatHappens() {
        let counters = AppCounters<Counted>(factory: registry)
        for app in 0..<1_000 { counters.see("app-\(app)") }
        expectEqual(lines("uploads_gaps").count, 128)
        expectEqual(lines("uploads_denied").count, 128)
        for app in 900..<1_000 { counters.count(.denied, "app-\(app)", "rules") }
        expectTrue(lines("uploads_denied").contains(#"uploads_denied_total{app="app-999",reason="rules"} 1"#))
        expectTrue(registry.render().contains("sluice_metrics_overflow_total 0\n"))
    }

    @Test func aCounterWithKnownValuesIsAt0FromTheStart() {
        let mails = LabelledCounter("mails", "outcome", ["sent", "failed"], factory: registry)
        expectEqual(lines("mails"), [#"mails_total{outcome="failed"} 0"#, #"mails_total{outcome="sent"} 0"#])
        mails.count("failed")
        mails.count("lost", by: 3)
        expectEqual(
            lines("mails"),
            [
                #"mails_total{outcome="failed"} 1"#, #"mails_total{outcome="lost"} 3"#,
                #"mails_total{outcome="sent"} 0"#,
            ])
    }

    @Test func aFigureThatIsNotKnownIsAbsent() {
        let depth = KnownGauge("depth", factory: registry)
        expectTrue(!registry.render().contains("depth"))
        depth.show(7)
        expectTrue(registry.render().contains("\ndepth 7\n"))
        depth.show(nil)
        expectTrue(!registry.render().contains("depth"))
        depth.show(0)
        expectTrue(registry.render().contains("\ndepth 0\n"))
    }

    @Test func seriesThatAreNotShownAgainGo() {
        let ages = KnownGauge("age", "purpose", "kind", factory: registry)
        ages.show([["access", "a"]: 1, ["refresh", "b"]: 2])
        ages.show([["refresh", "b"]: 3])
        let lines = registry.render().split(separator: "\n").filter { $0.hasPrefix("age") }
        expectEqual(lines, [#"age{kind="b",purpose="refresh"} 3"#])
    }
}
