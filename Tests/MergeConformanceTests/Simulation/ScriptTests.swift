import MergeConformance
import TestSupport
import Testing

@Suite struct ScriptTests {
    private static let text = """
        # A remark.
        rules convergent
        clients 2
        setup table A int; column A/l int list; column A/any mixed; create A/1
        1 clock 3
        0 clock -1
        1 write insert A/1/l/0 int(1); set A/1/any list; insert A/1/any/0 string(2)
        2 write set A/1/any dictionary; set A/1/any/a link(A/1); default A/1/any null; add A/1/any 4; drop A/1/any/a
        1 write move A/1/l/0 2; include A/1/any double(8); exclude A/1/any null; clear A/1/l; remove A/1/l/0
        0 write column A/e link? E; erase-column A/e; erase-table A; embedded E; erase A/1
        1 upload 3
        1 arrive
        1 again
        2 download 100
        2 integrate
        2 reconnect
        0 reload
        2 reset
        2 recover
        1 recover-or-discard
        1 hostile
        terminate
        quiet

        """

    @Test func aScriptReadsBackAsItWasWritten() throws {
        let script = try SimulationScript(parsing: Self.text)
        expectEqual(script.description, Self.text)
        expectEqual(script.steps.count, 19)
    }

    @Test(arguments: [
        "rules wrong", "clients 0", "clients 65", "clients x", "1", "1 dance", "1 upload", "1 upload x", "-1 arrive",
        "1 write set", "1 write set A/1/x", "1 write set A/1/x int", "1 write set A/1/x int(",
        "1 write set A/1/x int(a)",
        "1 write add A/1/x y", "1 write set A int(1)", "1 write set A/1/x link(1)", "setup fly A/1",
        "setup column A int",
        "1 write set A/1/x int(99999999999999999999)",
    ])
    func linesThatAreNoStepAreRefusedWithTheirNumber(line: String) {
        let error = #expect(throws: ScriptError.self) {
            try SimulationScript(parsing: "rules convergent\n\(line)\n")
        }
        expectEqual(error?.line, 2)
    }

    /// Whatever is left out of a script, the rest is one.
    @Test func stepsThatMeanNothingDoNothing() throws {
        let script = try SimulationScript(
            parsing: """
                clients 1
                setup table A int; create A/1
                9 write create A/1
                1 arrive
                1 again
                1 integrate
                7 reset
                0 upload 1
                0 reset
                1 write set A/9/x int(1); insert A/1/none/3 int(1); set B/1/x null; move A/1/_id/4 2; create A/1
                """)
        expectTrue(Simulation.run(script) == nil)
    }
}
