/// What a person may type.
struct Command {
    private let name: String
    private let words: String

    init(_ line: String) {
        let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        name = parts.first.map(String.init) ?? ""
        words = parts.count > 1 ? String(parts[1]) : ""
    }

    private static let help = """
        add TITLE      write a task down
        done WORDS     tick off the task that begins so
        undo WORDS     it is not done after all
        remove WORDS   strike it out
        list           show the tasks
        open LIST      go to another list
        offline        stop syncing: what you write stays here
        online         sync again
        wait           until the server has what you wrote, and you have what it has
        quit
        """

    /// - Returns: false if that was the last one.
    @MainActor
    func perform(on tasks: TaskList) async throws -> Bool {
        switch name {
        case "": break
        case "add": try tasks.add(words)
        case "done": try tasks.change(words) { $0.isDone = true }
        case "undo": try tasks.change(words) { $0.isDone = false }
        case "remove": try tasks.remove(words)
        case "list": tasks.show()
        case "open": try await tasks.open(words)
        case "offline": tasks.goOffline()
        case "online": tasks.goOnline()
        case "wait": try await tasks.wait()
        case "quit": return false
        default: Terminal.show(Self.help)
        }
        return true
    }
}
