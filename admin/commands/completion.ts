import { Argument, Command } from 'commander'
import { completionOf, type Shell, shells } from '../../client/src/command/completion.ts'
import { exampleOf } from '../terminal/arguments.ts'
import { printText } from '../terminal/output.ts'

export const completionCommand = (program: Command): Command =>
  new Command('completion')
    .description('print what completes commands and options in a shell')
    .addHelpText('after', exampleOf('completion bash >> ~/.bashrc', 'completion zsh >> ~/.zshrc'))
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: Shell) => printText(completionOf(program, shell)))
