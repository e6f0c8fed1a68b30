import Messages
import Testing

@testable import Worker

@Suite struct ResetQuestionsTests {
    private let session = SessionReference(gateway: "g", number: 1)

    private func verdict(
        _ questions: inout ResetQuestions, confirms: UInt64?, mayBeOld: Bool = true, drawing number: UInt64 = 7
    ) -> ResetQuestions.Verdict {
        questions.verdict(on: session, confirms: confirms, mayBeOld: mayBeOld) { number }
    }

    @Test func aRequestIsAskedAboutAndCountsOnceConfirmed() {
        var questions = ResetQuestions()
        #expect(verdict(&questions, confirms: 0) == .ask(7))
        #expect(verdict(&questions, confirms: 7) == .reset)
    }

    @Test func aConfirmationThatComesAgainIsAskedAbout() {
        var questions = ResetQuestions()
        _ = verdict(&questions, confirms: 0)
        _ = verdict(&questions, confirms: 7)
        #expect(verdict(&questions, confirms: 7, drawing: 8) == .ask(8))
    }

    /// Copies of one request must not make each other's confirmations void.
    @Test func aRequestThatComesAgainIsAskedAboutUnderTheSameNumber() {
        var questions = ResetQuestions()
        #expect(verdict(&questions, confirms: 0) == .ask(7))
        #expect(verdict(&questions, confirms: 0, drawing: 8) == .ask(7))
        #expect(verdict(&questions, confirms: 7) == .reset)
    }

    @Test func anotherOwnersQuestionIsAskedAgain() {
        var questions = ResetQuestions()
        #expect(verdict(&questions, confirms: 3) == .ask(7))
        #expect(verdict(&questions, confirms: 3) == .ask(7))
        #expect(verdict(&questions, confirms: 7) == .reset)
    }

    @Test func aSessionThatWasIdentifiedIsAskedAfresh() {
        var questions = ResetQuestions()
        _ = verdict(&questions, confirms: 0)
        questions.close(session)
        #expect(verdict(&questions, confirms: 7, drawing: 8) == .ask(8))
    }

    @Test func aGatewayThatCannotBeAskedIsNot() {
        var questions = ResetQuestions()
        #expect(verdict(&questions, confirms: nil) == .retry)
        #expect(verdict(&questions, confirms: nil, mayBeOld: false) == .reset)
    }

    @Test func questionsAreBounded() {
        var questions = ResetQuestions()
        for number in 1...UInt64(ResetQuestions.maxOpen + 1) {
            _ = questions.verdict(
                on: SessionReference(gateway: "g", number: number), confirms: 0, mayBeOld: true, number: { number })
        }
        #expect(verdict(&questions, confirms: 1, drawing: 9) == .ask(9))
    }
}
