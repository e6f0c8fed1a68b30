import Messages
import TestSupport
import Testing

@testable import Worker

@Suite struct IdentQuestionsTests {
    private let session = SessionReference(gateway: "g", number: 1)

    private func verdict(
        _ questions: inout IdentQuestions, confirms: UInt64?, mayBeOld: Bool = true, drawing number: UInt64 = 7
    ) -> IdentQuestions.Verdict {
        questions.verdict(on: session, confirms: confirms, mayBeOld: mayBeOld) { number }
    }

    @Test func aRequestIsAskedAboutAndCountsOnceConfirmed() {
        var questions = IdentQuestions()
        expectEqual(verdict(&questions, confirms: 0), .ask(7))
        expectEqual(verdict(&questions, confirms: 7), .certain)
    }

    @Test func aConfirmationThatComesAgainIsAskedAbout() {
        var questions = IdentQuestions()
        _ = verdict(&questions, confirms: 0)
        _ = verdict(&questions, confirms: 7)
        expectEqual(verdict(&questions, confirms: 7, drawing: 8), .ask(8))
    }

    /// Copies of one request must not make each other's confirmations void.
    @Test func aRequestThatComesAgainIsAskedAboutUnderTheSameNumber() {
        var questions = IdentQuestions()
        expectEqual(verdict(&questions, confirms: 0), .ask(7))
        expectEqual(verdict(&questions, confirms: 0, drawing: 8), .ask(7))
        expectEqual(verdict(&questions, confirms: 7), .certain)
    }

    @Test func anotherOwnersQuestionIsAskedAgain() {
        var questions = IdentQuestions()
        expectEqual(verdict(&questions, confirms: 3), .ask(7))
        expectEqual(verdict(&questions, confirms: 3), .ask(7))
        expectEqual(verdict(&questions, confirms: 7), .certain)
    }

    @Test func aSessionThatWasIdentifiedIsAskedAfresh() {
        var questions = IdentQuestions()
        _ = verdict(&questions, confirms: 0)
        questions.close(session)
        expectEqual(verdict(&questions, confirms: 7, drawing: 8), .ask(8))
    }

    @Test func aGatewayThatCannotBeAskedIsNot() {
        var questions = IdentQuestions()
        expectEqual(verdict(&questions, confirms: nil), .retry)
        expectEqual(verdict(&questions, confirms: nil, mayBeOld: false), .certain)
    }

    @Test func questionsAreBounded() {
        var questions = IdentQuestions()
        for number in 1...UInt64(IdentQuestions.maxOpen + 1) {
            _ = questions.verdict(
                on: SessionReference(gateway: "g", number: number), confirms: 0, mayBeOld: true, number: { number })
        }
        expectEqual(verdict(&questions, confirms: 1, drawing: 9), .ask(9))
    }
}
